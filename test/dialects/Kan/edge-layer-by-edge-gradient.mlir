// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @wavelet(%x: tensor<3x2xf64>, %c: tensor<1x2x2xf64>, %q0: tensor<1x2x2xf64> {check.range = array<f64: -0.8, 0.8>}, %q1: tensor<1x2x2xf64> {check.range = array<f64: 0.6, 1.2>}) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by mexican_hat (%q0, %q1 : tensor<1x2x2xf64>, tensor<1x2x2xf64>) : tensor<3x2xf64>, tensor<1x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @waves(%x: tensor<3x2xf64>, %c: tensor<2x2x2xf64>, %q0: tensor<2x2x2xf64> {check.range = array<f64: 0.5, 2.0>}, %q1: tensor<2xf64> {check.range = array<f64: -1.0, 1.0>}) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by sine (%q0, %q1 : tensor<2x2x2xf64>, tensor<2xf64>) : tensor<3x2xf64>, tensor<2x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func @gradients() {
  check.gradient @wavelet wrt [0, 1, 2, 3] in [-0.9, 0.9]
  check.gradient @waves wrt [0, 1, 2, 3] in [-0.9, 0.9]
  return
}
