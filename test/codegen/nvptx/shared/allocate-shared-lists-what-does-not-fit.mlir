// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-allocate-shared=limit=2000 -verify-diagnostics

#t = #tile.layout<registers = [0:128*2], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = [0:32, 0:64]>

// expected-error @+1 {{needs 2048 bytes of shared memory, but a block has at most 2000}}
func.func @f(%x: memref<256xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64} {
  %0 = tile.load %x : memref<256xf32> -> tensor<256xf32, #t>
  // expected-note @+1 {{1024 bytes: 'memref<256xf32, 3>'}}
  %a = tile.alloc : memref<256xf32, 3>
  tile.store %0, %a : tensor<256xf32, #t>, memref<256xf32, 3>
  // expected-note @+1 {{1024 bytes: 'memref<256xi32, 3>'}}
  %b = tile.alloc : memref<256xi32, 3>
  %1 = tile.load %b : memref<256xi32, 3> -> tensor<256xi32, #t>
  %2 = tile.load %a : memref<256xf32, 3> -> tensor<256xf32, #t>
  return
}
