// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --refine-results | FileCheck %s

// CHECK-LABEL: @f(
// CHECK-SAME: -> tensor<11x8xf32>
// CHECK: tensor.concat dim(0) %{{.*}}, %{{.*}} : (tensor<7x8xf32>, tensor<4x8xf32>) -> tensor<11x8xf32>
func.func @f(%x: tensor<7x8xf32>, %y: tensor<4x8xf32>) -> tensor<?x8xf32> {
  %a = tensor.cast %x : tensor<7x8xf32> to tensor<?x8xf32>
  %b = tensor.cast %y : tensor<4x8xf32> to tensor<?x8xf32>
  %s = tensor.concat dim(0) %a, %b : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %s : tensor<?x8xf32>
}
