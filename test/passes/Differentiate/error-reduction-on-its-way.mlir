// RUN: drawloom-opt %s --differentiate -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#i = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>

func.func private @running(%x: tensor<4xf64>, %e: tensor<4xf64>, %s: tensor<f64>) -> tensor<4xf64> {
  // expected-error @+1 {{cannot be differentiated: result 0 is computed from what result 1, a reduction, is on its way; block.scan gives running sums}}
  %y:2 = linalg.generic {indexing_maps = [#i, #i, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<4xf64>) outs(%e, %s : tensor<4xf64>, tensor<f64>) {
  ^bb0(%v: f64, %o: f64, %acc: f64):
    %t = arith.addf %acc, %v : f64
    linalg.yield %t, %t : f64, f64
  } -> (tensor<4xf64>, tensor<f64>)
  return %y#0 : tensor<4xf64>
}

func.func @df(%x: tensor<4xf64>, %e: tensor<4xf64>, %s: tensor<f64>, %g: tensor<4xf64>) -> tensor<4xf64> {
  // expected-note @+1 {{while differentiating '@running'}}
  %y, %dx = ad.vjp @running(%x, %e, %s) cotangents(%g) wrt [0] : (tensor<4xf64>, tensor<4xf64>, tensor<f64>) -> (tensor<4xf64>, tensor<4xf64>)
  return %dx : tensor<4xf64>
}

// -----

#i = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>

// Each term of the second sum is weighted by the first one so far.
func.func private @weighted(%x: tensor<4xf64>, %s: tensor<f64>) -> tensor<f64> {
  // expected-error @+1 {{cannot be differentiated: result 1 is computed from what result 0, a reduction, is on its way}}
  %y:2 = linalg.generic {indexing_maps = [#i, #none, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<4xf64>) outs(%s, %s : tensor<f64>, tensor<f64>) {
  ^bb0(%v: f64, %a: f64, %b: f64):
    %t = arith.addf %a, %v : f64
    %w = arith.mulf %a, %v : f64
    %u = arith.addf %b, %w : f64
    linalg.yield %t, %u : f64, f64
  } -> (tensor<f64>, tensor<f64>)
  return %y#1 : tensor<f64>
}

func.func @df(%x: tensor<4xf64>, %s: tensor<f64>) -> tensor<4xf64> {
  // expected-note @+1 {{while differentiating '@weighted'}}
  %y, %dx = ad.value_and_grad @weighted(%x, %s) wrt [0] : (tensor<4xf64>, tensor<f64>) -> (tensor<f64>, tensor<4xf64>)
  return %dx : tensor<4xf64>
}
