// RUN: drawloom-opt %s --decompose-graph --canonicalize --refine-results | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is known of the extents reaches the type of the result.
// CHECK-LABEL: func.func @f
// CHECK-SAME: -> tensor<3x8xf32>
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<3x8xf32>
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%[[EMPTY]] : tensor<3x8xf32>) -> tensor<3x8xf32>
func.func @f(%x: f32) -> tensor<3x?xf32> {
  %n = arith.constant 8 : index
  %y = tensor.splat %x[%n] : tensor<3x?xf32>
  return %y : tensor<3x?xf32>
}
