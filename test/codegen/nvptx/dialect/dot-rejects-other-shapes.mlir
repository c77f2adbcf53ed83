// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

func.func @steps(%a: tensor<64x16xbf16>, %b: tensor<32x64xbf16>, %c: tensor<64x64xf32>) {
  // expected-error @+1 {{multiplies 'tensor<64x16xbf16>' by 'tensor<32x64xbf16>' into 'tensor<64x64xf32>'}}
  %d = tile.dot %a, %b, %c : tensor<64x16xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
  return
}

// -----

func.func @rows_of_a_tile(%a: tensor<80x32xbf16>, %b: tensor<32x64xbf16>, %c: tensor<64x64xf32>) {
  // expected-error @+1 {{multiplies 'tensor<80x32xbf16>' by}}
  %d = tile.dot %a, %b, %c : tensor<80x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
  return
}

// -----

func.func @a_buffer_that_is_too_small(%a: tensor<64x32xbf16>, %b: memref<32x56xbf16, 3>, %c: tensor<64x64xf32>) {
  // expected-error @+1 {{by 'memref<32x56xbf16, 3>' into 'tensor<64x64xf32>'}}
  %d = tile.dot %a, %b, %c : tensor<64x32xbf16>, memref<32x56xbf16, 3>, tensor<64x64xf32>
  return
}
