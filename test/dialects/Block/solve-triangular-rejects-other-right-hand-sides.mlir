// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

func.func @rows(%a: tensor<8x8xf32>, %b: tensor<9x4xf32>) -> tensor<9x4xf32> {
  // expected-error @+1 {{needs right-hand sides of rank 2 with one row for each row of the matrix, got tensor<9x4xf32> for tensor<8x8xf32>}}
  %0 = block.solve_triangular lower %a outs(%b) : tensor<8x8xf32> -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}

// -----

func.func @vector(%a: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{needs right-hand sides of rank 2 with one row for each row of the matrix, got tensor<8xf32> for tensor<8x8xf32>}}
  %0 = block.solve_triangular lower %a outs(%b) : tensor<8x8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
