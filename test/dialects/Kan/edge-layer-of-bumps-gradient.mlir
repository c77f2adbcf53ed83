// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @gaussian(%x: tensor<3x2xf64>, %c: tensor<3x2x2xf64>, %q0: tensor<3x2xf64> {check.range = array<f64: -0.8, 0.8>}, %q1: tensor<1xf64> {check.range = array<f64: 0.6, 1.2>}) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by gaussian (%q0, %q1 : tensor<3x2xf64>, tensor<1xf64>) : tensor<3x2xf64>, tensor<3x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @inverse_multiquadric(%x: tensor<3x2xf64>, %c: tensor<3x2x2xf64>, %q0: tensor<3x2xf64> {check.range = array<f64: -0.8, 0.8>}, %q1: tensor<1xf64> {check.range = array<f64: 0.6, 1.2>}) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by inverse_multiquadric (%q0, %q1 : tensor<3x2xf64>, tensor<1xf64>) : tensor<3x2xf64>, tensor<3x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @multiquadric(%x: tensor<3x2xf64>, %c: tensor<3x2x2xf64>, %q0: tensor<3x2xf64> {check.range = array<f64: -0.8, 0.8>}, %q1: tensor<1xf64> {check.range = array<f64: 0.6, 1.2>}) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by multiquadric (%q0, %q1 : tensor<3x2xf64>, tensor<1xf64>) : tensor<3x2xf64>, tensor<3x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @sech_squared(%x: tensor<3x2xf64>, %c: tensor<3x2x2xf64>, %q0: tensor<3x2xf64> {check.range = array<f64: -0.8, 0.8>}, %q1: tensor<1xf64> {check.range = array<f64: 0.6, 1.2>}) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by sech_squared (%q0, %q1 : tensor<3x2xf64>, tensor<1xf64>) : tensor<3x2xf64>, tensor<3x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @gaussian_derivative(%x: tensor<3x2xf64>, %c: tensor<3x2x2xf64>, %q0: tensor<3x2xf64> {check.range = array<f64: -0.8, 0.8>}, %q1: tensor<1xf64> {check.range = array<f64: 0.6, 1.2>}) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by gaussian_derivative (%q0, %q1 : tensor<3x2xf64>, tensor<1xf64>) : tensor<3x2xf64>, tensor<3x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @mexican_hat(%x: tensor<3x2xf64>, %c: tensor<3x2x2xf64>, %q0: tensor<3x2xf64> {check.range = array<f64: -0.8, 0.8>}, %q1: tensor<1xf64> {check.range = array<f64: 0.6, 1.2>}) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by mexican_hat (%q0, %q1 : tensor<3x2xf64>, tensor<1xf64>) : tensor<3x2xf64>, tensor<3x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @morlet(%x: tensor<3x2xf64>, %c: tensor<3x2x2xf64>, %q0: tensor<3x2xf64> {check.range = array<f64: -0.8, 0.8>}, %q1: tensor<1xf64> {check.range = array<f64: 0.6, 1.2>}) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by morlet (%q0, %q1 : tensor<3x2xf64>, tensor<1xf64>) : tensor<3x2xf64>, tensor<3x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @shannon(%x: tensor<3x2xf64>, %c: tensor<3x2x2xf64>, %q0: tensor<3x2xf64> {check.range = array<f64: -0.8, 0.8>}, %q1: tensor<1xf64> {check.range = array<f64: 0.6, 1.2>}) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by shannon (%q0, %q1 : tensor<3x2xf64>, tensor<1xf64>) : tensor<3x2xf64>, tensor<3x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @relu_product(%x: tensor<3x2xf64>, %c: tensor<3x2x2xf64>, %q0: tensor<3xf64> {check.range = array<f64: -1.6, -0.4>}, %q1: tensor<3x2xf64> {check.range = array<f64: 0.4, 1.6>}, %q2: tensor<1xf64> {check.range = array<f64: 0.8, 1.2>}) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by relu_product order 3 (%q0, %q1, %q2 : tensor<3xf64>, tensor<3x2xf64>, tensor<1xf64>) : tensor<3x2xf64>, tensor<3x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func @gradients() {
  check.gradient @gaussian wrt [0, 1, 2, 3] in [-0.9, 0.9]
  check.gradient @inverse_multiquadric wrt [0, 1, 2, 3] in [-0.9, 0.9]
  check.gradient @multiquadric wrt [0, 1, 2, 3] in [-0.9, 0.9]
  check.gradient @sech_squared wrt [0, 1, 2, 3] in [-0.9, 0.9]
  check.gradient @gaussian_derivative wrt [0, 1, 2, 3] in [-0.9, 0.9]
  check.gradient @mexican_hat wrt [0, 1, 2, 3] in [-0.9, 0.9]
  check.gradient @morlet wrt [0, 1, 2, 3] in [-0.9, 0.9]
  check.gradient @shannon wrt [0, 1, 2, 3] in [-0.9, 0.9]
  check.gradient @relu_product wrt [0, 1, 2, 3, 4] in [-0.9, 0.9]
  return
}
