// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

func.func @shape(%x: tensor<9x8xf32>, %i: tensor<4xi32>, %o: tensor<4x7xf32>) -> tensor<4x7xf32> {
  // expected-error @+1 {{needs rows of the same shape and element type in init and source, got tensor<4x7xf32> and tensor<9x8xf32>}}
  %0 = block.gather %x[%i] outs(%o) : tensor<9x8xf32>[tensor<4xi32>] -> tensor<4x7xf32>
  return %0 : tensor<4x7xf32>
}

// -----

func.func @element(%x: tensor<9x8xf32>, %i: tensor<4xi32>, %o: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  // expected-error @+1 {{needs rows of the same shape and element type in init and source, got tensor<4x8xbf16> and tensor<9x8xf32>}}
  %0 = block.gather %x[%i] outs(%o) : tensor<9x8xf32>[tensor<4xi32>] -> tensor<4x8xbf16>
  return %0 : tensor<4x8xbf16>
}
