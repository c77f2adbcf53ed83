// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

func.func @past_the_end(%x: tensor<8xf32>) {
  // expected-error @+1 {{cannot use dimension 2 of the result}}
  %0 = tile.broadcast %x along [2] : tensor<8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @twice(%x: tensor<8x8xf32>) {
  // expected-error @+1 {{cannot use dimension 1 of the result}}
  %0 = tile.broadcast %x along [1, 1] : tensor<8x8xf32> -> tensor<8x8xf32>
  return
}
