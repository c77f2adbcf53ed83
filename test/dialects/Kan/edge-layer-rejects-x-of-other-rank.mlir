// RUN: drawloom-opt %s --verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<3xf32>, %c: tensor<5x3x4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'kan.edge_layer' op x must have shape [rows, inputs] with a known number of inputs, at least 1, but is 'tensor<3xf32>'}}
  %y = kan.edge_layer %x, %c by chebyshev : tensor<3xf32>, tensor<5x3x4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}
