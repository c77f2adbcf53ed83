// RUN: drawloom-opt %s --differentiate -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: tensor<4xf32>, %o: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{cannot be differentiated: result 0 is a reduction that is neither a sum nor a maximum or minimum}}
  %y = linalg.reduce { arith.mulf } ins(%x : tensor<4xf32>) outs(%o : tensor<f32>) dimensions = [0]
  return %y : tensor<f32>
}

func.func @df(%x: tensor<4xf32>, %o: tensor<f32>) -> tensor<4xf32> {
  // expected-note @+1 {{while differentiating '@f'}}
  %y, %dx = ad.value_and_grad @f(%x, %o) wrt [0]
      : (tensor<4xf32>, tensor<f32>) -> (tensor<f32>, tensor<4xf32>)
  return %dx : tensor<4xf32>
}
