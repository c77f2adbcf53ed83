// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

func.func @f(%t: tensor<3x8xf32>, %i: tensor<4xi32>, %y: tensor<9x8xf32>) -> tensor<9x8xf32> {
  // expected-error @+1 {{needs one row in rows for each index}}
  %0 = block.scatter %t into %y[%i] : tensor<3x8xf32> into tensor<9x8xf32>[tensor<4xi32>]
  return %0 : tensor<9x8xf32>
}
