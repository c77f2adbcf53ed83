// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @bernstein(%x: tensor<3x2xf64>, %c: tensor<4x2x2xf64>) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by bernstein : tensor<3x2xf64>, tensor<4x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @bessel(%x: tensor<3x2xf64>, %c: tensor<4x2x2xf64>) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by bessel : tensor<3x2xf64>, tensor<4x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @chebyshev(%x: tensor<3x2xf64>, %c: tensor<4x2x2xf64>) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by chebyshev : tensor<3x2xf64>, tensor<4x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @chebyshev_second(%x: tensor<3x2xf64>, %c: tensor<4x2x2xf64>) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by chebyshev_second : tensor<3x2xf64>, tensor<4x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @fibonacci(%x: tensor<3x2xf64>, %c: tensor<4x2x2xf64>) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by fibonacci : tensor<3x2xf64>, tensor<4x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @hermite(%x: tensor<3x2xf64>, %c: tensor<4x2x2xf64>) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by hermite : tensor<3x2xf64>, tensor<4x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @hermite_e(%x: tensor<3x2xf64>, %c: tensor<4x2x2xf64>) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by hermite_e : tensor<3x2xf64>, tensor<4x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @legendre(%x: tensor<3x2xf64>, %c: tensor<4x2x2xf64>) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by legendre : tensor<3x2xf64>, tensor<4x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @lucas(%x: tensor<3x2xf64>, %c: tensor<4x2x2xf64>) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by lucas : tensor<3x2xf64>, tensor<4x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @monomial(%x: tensor<3x2xf64>, %c: tensor<4x2x2xf64>) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by monomial : tensor<3x2xf64>, tensor<4x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @gegenbauer(%x: tensor<3x2xf64>, %c: tensor<4x2x2xf64>, %q0: tensor<1xf64> {check.range = array<f64: 0.3, 0.9>}) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by gegenbauer (%q0 : tensor<1xf64>) : tensor<3x2xf64>, tensor<4x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @jacobi(%x: tensor<3x2xf64>, %c: tensor<4x2x2xf64>, %q0: tensor<2x2xf64> {check.range = array<f64: 0.3, 0.9>}) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by jacobi (%q0 : tensor<2x2xf64>) : tensor<3x2xf64>, tensor<4x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @laguerre(%x: tensor<3x2xf64>, %c: tensor<4x2x2xf64>, %q0: tensor<1xf64> {check.range = array<f64: 0.3, 0.9>}) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by laguerre (%q0 : tensor<1xf64>) : tensor<3x2xf64>, tensor<4x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @three_term(%x: tensor<3x2xf64>, %c: tensor<4x2x2xf64>, %q0: tensor<4xf64> {check.range = array<f64: 0.5, 1.5>}, %q1: tensor<4x2xf64> {check.range = array<f64: -0.5, 0.5>}, %q2: tensor<4xf64> {check.range = array<f64: -0.5, 0.5>}) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by three_term (%q0, %q1, %q2 : tensor<4xf64>, tensor<4x2xf64>, tensor<4xf64>) : tensor<3x2xf64>, tensor<4x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func @gradients() {
  check.gradient @bernstein wrt [0, 1] in [-0.9, 0.9]
  check.gradient @bessel wrt [0, 1] in [-0.9, 0.9]
  check.gradient @chebyshev wrt [0, 1] in [-0.9, 0.9]
  check.gradient @chebyshev_second wrt [0, 1] in [-0.9, 0.9]
  check.gradient @fibonacci wrt [0, 1] in [-0.9, 0.9]
  check.gradient @hermite wrt [0, 1] in [-0.9, 0.9]
  check.gradient @hermite_e wrt [0, 1] in [-0.9, 0.9]
  check.gradient @legendre wrt [0, 1] in [-0.9, 0.9]
  check.gradient @lucas wrt [0, 1] in [-0.9, 0.9]
  check.gradient @monomial wrt [0, 1] in [-0.9, 0.9]
  check.gradient @gegenbauer wrt [0, 1, 2] in [-0.9, 0.9]
  check.gradient @jacobi wrt [0, 1, 2] in [-0.9, 0.9]
  check.gradient @laguerre wrt [0, 1, 2] in [-0.9, 0.9]
  check.gradient @three_term wrt [0, 1, 2, 3, 4] in [-0.9, 0.9]
  return
}
