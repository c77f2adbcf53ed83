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

// -----

// What is subtracted in turn is no sum: each element is taken from the last difference.
func.func private @f(%x: tensor<2x3xf64>, %o: tensor<2xf64>) -> tensor<2xf64> {
  // expected-error @+1 {{cannot be differentiated: result 0 is a reduction that is neither a sum nor a maximum or minimum}}
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x3xf64>) outs(%o : tensor<2xf64>) {
  ^bb0(%p: f64, %r: f64):
    %c = arith.subf %p, %r : f64
    linalg.yield %c : f64
  } -> tensor<2xf64>
  return %y : tensor<2xf64>
}

func.func @df(%x: tensor<2x3xf64>, %o: tensor<2xf64>, %g: tensor<2xf64>) -> tensor<2x3xf64> {
  // expected-note @+1 {{while differentiating '@f'}}
  %y, %dx = ad.vjp @f(%x, %o) cotangents(%g) wrt [0] : (tensor<2x3xf64>, tensor<2xf64>) -> (tensor<2xf64>, tensor<2x3xf64>)
  return %dx : tensor<2x3xf64>
}
