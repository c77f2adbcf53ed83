// RUN: drawloom-opt %s --verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<?x3xf32>, %c: tensor<5x3x4xf32>, %p0: tensor<6xf32>) -> tensor<?x4xf32> {
  // expected-error @+1 {{'kan.edge_layer' op the order of bspline must be from 1 to 32, but is 0}}
  %y = kan.edge_layer %x, %c by bspline order 0 (%p0 : tensor<6xf32>) : tensor<?x3xf32>, tensor<5x3x4xf32> -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
