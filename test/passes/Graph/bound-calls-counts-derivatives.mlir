// RUN: not drawloom-opt %s --bound-calls=max-operations=11 2>&1 | FileCheck %s
// RUN: drawloom-opt %s --bound-calls=max-operations=12

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is differentiated is copied, like what is called.
// CHECK: error: '@g' has more than 11 operations
func.func private @f(%x: tensor<4xf32>) -> tensor<f32> {
  %c = arith.constant dense<0.0> : tensor<4xf32>
  %l = loss.mse %x, %c : tensor<4xf32> -> tensor<f32>
  return %l : tensor<f32>
}
func.func @g(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %l, %d = ad.value_and_grad @f(%x) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
  %m, %e = ad.value_and_grad @f(%d) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
  return %d, %e : tensor<4xf32>, tensor<4xf32>
}
