// RUN: drawloom-opt %s --differentiate -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: tensor<4xf32>, %p: f32) -> tensor<6xf32> {
  // expected-error @+1 {{cannot be differentiated: the region of 'tensor.pad' uses a value from outside that the result has to be differentiated for; pass it as an operand}}
  %y = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %p : f32
  } : tensor<4xf32> to tensor<6xf32>
  return %y : tensor<6xf32>
}

func.func @df(%x: tensor<4xf32>, %p: f32, %g: tensor<6xf32>) -> f32 {
  // expected-note @+1 {{while differentiating '@f'}}
  %y, %dp = ad.vjp @f(%x, %p) cotangents(%g) wrt [1]
      : (tensor<4xf32>, f32) -> (tensor<6xf32>, f32)
  return %dp : f32
}
