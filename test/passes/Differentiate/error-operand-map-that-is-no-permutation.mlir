// RUN: drawloom-opt %s --differentiate -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: tensor<6xf32>, %o: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // expected-error @+1 {{cannot be differentiated: operand 0 is indexed by affine_map<(d0, d1) -> (d0 + d1)>, and its gradient would be a scatter; only maps to distinct loops are supported}}
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i + j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<6xf32>) outs(%o : tensor<4x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

func.func @df(%x: tensor<6xf32>, %o: tensor<4x3xf32>) -> tensor<6xf32> {
  // expected-note @+1 {{while differentiating '@f'}}
  %y, %dx = ad.vjp @f(%x, %o) cotangents(%o) wrt [0]
      : (tensor<6xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<6xf32>)
  return %dx : tensor<6xf32>
}
