// RUN: drawloom-run %s --entry=g --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Both gradients start as one zero. Only the first is changed.
func.func private @f(%a: tensor<8x5xf32>, %b: tensor<8x5xf32>) -> tensor<f32> {
  %s = tensor.extract_slice %a[2, 1] [1, 3] [1, 1] : tensor<8x5xf32> to tensor<1x3xf32>
  %t = arith.constant dense<0.0> : tensor<1x3xf32>
  %l = loss.mse %s, %t : tensor<1x3xf32> -> tensor<f32>
  return %l : tensor<f32>
}
func.func @g(%a: tensor<8x5xf32>, %b: tensor<8x5xf32>) -> (tensor<8x5xf32>, tensor<8x5xf32>) {
  %l, %da, %db = ad.value_and_grad @f(%a, %b) wrt [0, 1]
    : (tensor<8x5xf32>, tensor<8x5xf32>) -> (tensor<f32>, tensor<8x5xf32>, tensor<8x5xf32>)
  return %da, %db : tensor<8x5xf32>, tensor<8x5xf32>
}
