// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: memref<64xf32>, %y: memref<64xf32>) {
  // expected-error@+1 {{copies a tile of type 'tensor<64xf32>' from memory of type 'memref<64xf32>' to memory of type 'memref<64xf32>'}}
  tile.copy_async %x, %y by tensor<64xf32> : memref<64xf32>, memref<64xf32>
  return
}

// -----

func.func @f(%x: memref<64xf32>, %y: memref<32xf32, 3>) {
  // expected-error@+1 {{moves a tile of type 'tensor<64xf32>' and memory of type 'memref<32xf32, 3>'}}
  tile.copy_async %x, %y by tensor<64xf32> : memref<64xf32>, memref<32xf32, 3>
  return
}
