// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @cubic(%x: tensor<3x2xf64>, %c: tensor<5x2x2xf64>, %q0: tensor<9xf64> {check.range = array<f64: -1.0, 1.0>}) -> tensor<3x2xf64> {
  %base = arith.constant dense<[-1.7, -1.3, -1.0, -0.45, 0.1, 0.6, 1.0, 1.4, 1.8]> : tensor<9xf64>
  %small = arith.constant dense<0.015625> : tensor<9xf64>
  %moved = arith.mulf %q0, %small : tensor<9xf64>
  %p0 = arith.addf %base, %moved : tensor<9xf64>
  %y = kan.edge_layer %x, %c by bspline order 3 (%p0 : tensor<9xf64>) : tensor<3x2xf64>, tensor<5x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @linear_by_input(%x: tensor<3x2xf64>, %c: tensor<4x2x2xf64>, %q0: tensor<6x2xf64> {check.range = array<f64: -1.0, 1.0>}) -> tensor<3x2xf64> {
  %base = arith.constant dense<[[-1.5, -1.430], [-1.0, -0.930], [-0.4, -0.330], [0.3, 0.370], [1.0, 1.070], [1.6, 1.670]]> : tensor<6x2xf64>
  %small = arith.constant dense<0.015625> : tensor<6x2xf64>
  %moved = arith.mulf %q0, %small : tensor<6x2xf64>
  %p0 = arith.addf %base, %moved : tensor<6x2xf64>
  %y = kan.edge_layer %x, %c by bspline order 1 (%p0 : tensor<6x2xf64>) : tensor<3x2xf64>, tensor<4x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @uniform(%x: tensor<3x2xf64>, %c: tensor<5x2x2xf64>, %q0: tensor<2xf64> {check.range = array<f64: -1.0, 1.0>}) -> tensor<3x2xf64> {
  %base = arith.constant dense<[-0.8, 0.85]> : tensor<2xf64>
  %small = arith.constant dense<0.015625> : tensor<2xf64>
  %moved = arith.mulf %q0, %small : tensor<2xf64>
  %p0 = arith.addf %base, %moved : tensor<2xf64>
  %y = kan.edge_layer %x, %c by uniform_bspline order 2 (%p0 : tensor<2xf64>) : tensor<3x2xf64>, tensor<5x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @hats(%x: tensor<3x2xf64>, %c: tensor<4x2x2xf64>, %q0: tensor<4xf64> {check.range = array<f64: -1.0, 1.0>}) -> tensor<3x2xf64> {
  %base = arith.constant dense<[-0.8, -0.2, 0.3, 0.75]> : tensor<4xf64>
  %small = arith.constant dense<0.015625> : tensor<4xf64>
  %moved = arith.mulf %q0, %small : tensor<4xf64>
  %p0 = arith.addf %base, %moved : tensor<4xf64>
  %y = kan.edge_layer %x, %c by piecewise_linear (%p0 : tensor<4xf64>) : tensor<3x2xf64>, tensor<4x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func @gradients() {
  check.gradient @cubic wrt [0, 1, 2] in [-0.9, 0.9]
  check.gradient @linear_by_input wrt [0, 1, 2] in [-0.9, 0.9]
  check.gradient @uniform wrt [0, 1, 2] in [-0.9, 0.9]
  check.gradient @hats wrt [0, 1, 2] in [-0.9, 0.9]
  return
}
