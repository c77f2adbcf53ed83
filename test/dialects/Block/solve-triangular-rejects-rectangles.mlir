// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

func.func @f(%a: tensor<8x9xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error @+1 {{needs a square matrix, got tensor<8x9xf32>}}
  %0 = block.solve_triangular lower %a outs(%b) : tensor<8x9xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
