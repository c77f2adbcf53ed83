// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

func.func @extents(%x: memref<15x64xf32>) {
  // expected-error @+1 {{moves a tile of type 'tensor<16x64xf32>' and memory of type 'memref<15x64xf32>'}}
  %0 = tile.load %x : memref<15x64xf32> -> tensor<16x64xf32>
  return
}

// -----

func.func @elements(%x: memref<?x64xf16>) {
  // expected-error @+1 {{moves a tile of type 'tensor<16x64xf32>' and memory of type 'memref<?x64xf16>'}}
  %0 = tile.load %x : memref<?x64xf16> -> tensor<16x64xf32>
  return
}
