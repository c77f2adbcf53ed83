// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-allocate-shared --verify-semantics | FileCheck %s

#t = #tile.layout<registers = [0:128*2], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = [0:32, 0:64]>

// The first buffer is no longer in use when the third is written, which gets its bytes.
// CHECK: drawloom.shared_bytes = 2048 : i64
// CHECK: tile.alloc at 0
// CHECK: tile.alloc at 1024
// CHECK: tile.alloc at 0
func.func @f(%x: memref<256xf32>, %y: memref<256xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64} {
  %0 = tile.load %x : memref<256xf32> -> tensor<256xf32, #t>
  %a = tile.alloc : memref<256xf32, 3>
  tile.store %0, %a : tensor<256xf32, #t>, memref<256xf32, 3>
  %b = tile.alloc : memref<256xf32, 3>
  tile.store %0, %b : tensor<256xf32, #t>, memref<256xf32, 3>
  %1 = tile.load %a : memref<256xf32, 3> -> tensor<256xf32, #t>
  %c = tile.alloc : memref<256xf32, 3>
  %2 = tile.load %b : memref<256xf32, 3> -> tensor<256xf32, #t>
  tile.store %2, %c : tensor<256xf32, #t>, memref<256xf32, 3>
  %3 = tile.load %c : memref<256xf32, 3> -> tensor<256xf32, #t>
  tile.store %3, %y : tensor<256xf32, #t>, memref<256xf32>
  return
}
