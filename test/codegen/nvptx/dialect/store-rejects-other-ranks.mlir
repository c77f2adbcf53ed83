// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -verify-diagnostics

func.func @f(%x: tensor<16x64xf32>, %y: memref<64xf32>) {
  // expected-error @+1 {{moves a tile of type 'tensor<16x64xf32>' and memory of type 'memref<64xf32>'}}
  tile.store %x, %y : tensor<16x64xf32>, memref<64xf32>
  return
}
