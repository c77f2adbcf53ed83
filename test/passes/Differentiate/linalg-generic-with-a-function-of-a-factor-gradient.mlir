// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products of functions of the operands are contractions to linalg, not to the
// rule of plain products.
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @negative(%a: tensor<2x3xf64>, %b: tensor<3x2xf64>, %c: tensor<2x2xf64>) -> tensor<2x2xf64> {
  %y = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x3xf64>, tensor<3x2xf64>) outs(%c : tensor<2x2xf64>) {
  ^bb0(%x: f64, %w: f64, %acc: f64):
    %n = arith.negf %x : f64
    %p = arith.mulf %n, %w : f64
    %s = arith.addf %acc, %p : f64
    linalg.yield %s : f64
  } -> tensor<2x2xf64>
  return %y : tensor<2x2xf64>
}

func.func @exponential(%a: tensor<2x3xf64>, %b: tensor<3x2xf64>, %c: tensor<2x2xf64>) -> tensor<2x2xf64> {
  %y = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x3xf64>, tensor<3x2xf64>) outs(%c : tensor<2x2xf64>) {
  ^bb0(%x: f64, %w: f64, %acc: f64):
    %n = math.exp %x : f64
    %p = arith.mulf %n, %w : f64
    %s = arith.addf %acc, %p : f64
    linalg.yield %s : f64
  } -> tensor<2x2xf64>
  return %y : tensor<2x2xf64>
}

func.func @gradients() {
  check.gradient @negative wrt [0, 1, 2]
  check.gradient @exponential wrt [0, 1, 2]
  return
}
