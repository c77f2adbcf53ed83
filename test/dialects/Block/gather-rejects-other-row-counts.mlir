// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<9x8xf32>, %i: tensor<4xi32>, %o: tensor<5x8xf32>) -> tensor<5x8xf32> {
  // expected-error @+1 {{needs one row in init for each index: tensor<5x8xf32> does not have the tensor<4xi32> rows}}
  %0 = block.gather %x[%i] outs(%o) : tensor<9x8xf32>[tensor<4xi32>] -> tensor<5x8xf32>
  return %0 : tensor<5x8xf32>
}
