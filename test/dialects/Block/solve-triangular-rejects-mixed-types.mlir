// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

func.func @f(%a: tensor<8x8xf32>, %b: tensor<8x4xf64>) -> tensor<8x4xf64> {
  // expected-error @+1 {{needs one element type, got 'f32' in the matrix and 'f64' in the right-hand sides}}
  %0 = block.solve_triangular lower %a outs(%b) : tensor<8x8xf32> -> tensor<8x4xf64>
  return %0 : tensor<8x4xf64>
}
