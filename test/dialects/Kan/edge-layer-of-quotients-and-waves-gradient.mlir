// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @rational(%x: tensor<3x2xf64>, %c: tensor<4x2x2xf64>, %q0: tensor<2x2xf64> {check.range = array<f64: 0.3, 0.9>}) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by rational order 2 (%q0 : tensor<2x2xf64>) : tensor<3x2xf64>, tensor<4x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @fourier(%x: tensor<3x2xf64>, %c: tensor<6x2x2xf64>) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by fourier : tensor<3x2xf64>, tensor<6x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func private @waves(%x: tensor<3x2xf64>, %c: tensor<3x2x2xf64>, %q0: tensor<3xf64> {check.range = array<f64: 0.5, 3.0>}, %q1: tensor<3x2xf64> {check.range = array<f64: -1.0, 1.0>}) -> tensor<3x2xf64> {
  %y = kan.edge_layer %x, %c by sine (%q0, %q1 : tensor<3xf64>, tensor<3x2xf64>) : tensor<3x2xf64>, tensor<3x2x2xf64> -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func @gradients() {
  check.gradient @rational wrt [0, 1, 2] in [-0.9, 0.9]
  check.gradient @fourier wrt [0, 1] in [-0.9, 0.9]
  check.gradient @waves wrt [0, 1, 2, 3] in [-0.9, 0.9]
  return
}
