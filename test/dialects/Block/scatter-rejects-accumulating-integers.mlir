// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

func.func @f(%t: tensor<4x8xi32>, %i: tensor<4xi32>, %y: tensor<9x8xi32>) -> tensor<9x8xi32> {
  // expected-error @+1 {{needs float elements to accumulate, got 'i32'}}
  %0 = block.scatter accumulate %t into %y[%i] : tensor<4x8xi32> into tensor<9x8xi32>[tensor<4xi32>]
  return %0 : tensor<9x8xi32>
}
