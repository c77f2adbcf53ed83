// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<9x8xf32>, %i: tensor<4xf32>, %o: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{operand #1 must be 1D tensor of 32-bit signless integer or 64-bit signless integer or index values}}
  %0 = block.gather %x[%i] outs(%o) : tensor<9x8xf32>[tensor<4xf32>] -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
