// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @cubic(%x: tensor<3x2xf64>, %c: tensor<9x2x2xf64>, %q0: tensor<13xf64> {check.range = array<f64: -1.0, 1.0>}) -> tensor<3x2xf64> {
  %base = arith.constant dense<[-1.7, -1.3, -1.1, -0.9, -0.6, -0.25, 0.1, 0.3, 0.6, 0.85, 1.0, 1.2, 1.5]> : tensor<13xf64>
  %small = arith.constant dense<0.015625> : tensor<13xf64>
  %moved = arith.mulf %q0, %small : tensor<13xf64>
  %p0 = arith.addf %base, %moved : tensor<13xf64>
  %y = kan.edge_layer %x, %c by bspline order 3 (%p0 : tensor<13xf64>) : tensor<3x2xf64>, tensor<9x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @uniform(%x: tensor<3x2xf64>, %c: tensor<8x2x2xf64>, %q0: tensor<2xf64> {check.range = array<f64: -1.0, 1.0>}) -> tensor<3x2xf64> {
  %base = arith.constant dense<[-0.8, 0.85]> : tensor<2xf64>
  %small = arith.constant dense<0.015625> : tensor<2xf64>
  %moved = arith.mulf %q0, %small : tensor<2xf64>
  %p0 = arith.addf %base, %moved : tensor<2xf64>
  %y = kan.edge_layer %x, %c by uniform_bspline order 3 (%p0 : tensor<2xf64>) : tensor<3x2xf64>, tensor<8x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @quadratic(%x: tensor<3x2xf64>, %c: tensor<9x2x2xf64>, %q0: tensor<2xf64> {check.range = array<f64: -1.0, 1.0>}) -> tensor<3x2xf64> {
  %base = arith.constant dense<[-0.8, 0.85]> : tensor<2xf64>
  %small = arith.constant dense<0.015625> : tensor<2xf64>
  %moved = arith.mulf %q0, %small : tensor<2xf64>
  %p0 = arith.addf %base, %moved : tensor<2xf64>
  %y = kan.edge_layer %x, %c by uniform_bspline order 2 (%p0 : tensor<2xf64>) : tensor<3x2xf64>, tensor<9x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func @gradients() {
  check.gradient @cubic wrt [0, 1, 2] in [-0.9, 0.9]
  check.gradient @uniform wrt [0, 1, 2] in [-0.9, 0.9]
  check.gradient @quadratic wrt [0, 1, 2] in [-0.9, 0.9]
  return
}
