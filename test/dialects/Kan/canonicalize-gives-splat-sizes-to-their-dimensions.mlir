// RUN: drawloom-opt %s --canonicalize --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A known size belongs to one dimension: the next open one has the next size.
// CHECK-LABEL: @first_is_known
// CHECK: tensor.splat %{{.*}}[%{{.*}}] : tensor<4x?xf32>
func.func @first_is_known(%v: f32, %x: tensor<?x3xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %0 = tensor.splat %v[%c4, %n] : tensor<?x?xf32>
  %1 = kan.relu %0 : tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
