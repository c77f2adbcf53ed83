// RUN: drawloom-opt %s --differentiate -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%t: tensor<9xf32>, %i: tensor<4xindex>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{cannot be differentiated: the body of 'linalg.generic' uses a value of type 'tensor<9xf32>' from outside that the result has to be differentiated for; pass it as an operand}}
  %y = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%i : tensor<4xindex>) outs(%o : tensor<4xf32>) {
  ^bb0(%a: index, %b: f32):
    %e = tensor.extract %t[%a] : tensor<9xf32>
    linalg.yield %e : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @df(%t: tensor<9xf32>, %i: tensor<4xindex>, %o: tensor<4xf32>) -> tensor<9xf32> {
  // expected-note @+1 {{while differentiating '@f'}}
  %y, %dt = ad.vjp @f(%t, %i, %o) cotangents(%o) wrt [0]
      : (tensor<9xf32>, tensor<4xindex>, tensor<4xf32>) -> (tensor<4xf32>, tensor<9xf32>)
  return %dt : tensor<9xf32>
}
