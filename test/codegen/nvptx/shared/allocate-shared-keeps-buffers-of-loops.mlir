// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-allocate-shared --verify-semantics | FileCheck %s

#t = #tile.layout<registers = [0:128*2], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = [0:32, 0:64]>

// A buffer from outside of a loop is in use through all of it, though it is read first in each iteration.
// CHECK: drawloom.shared_bytes = 2048 : i64
// CHECK: tile.alloc at 0
// CHECK: tile.alloc at 1024
func.func @f(%x: memref<256xf32>, %y: memref<256xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %0 = tile.load %x : memref<256xf32> -> tensor<256xf32, #t>
  %a = tile.alloc : memref<256xf32, 3>
  tile.store %0, %a : tensor<256xf32, #t>, memref<256xf32, 3>
  scf.for %i = %c0 to %c9 step %c1 {
    %1 = tile.load %a : memref<256xf32, 3> -> tensor<256xf32, #t>
    %b = tile.alloc : memref<256xf32, 3>
    tile.store %1, %b : tensor<256xf32, #t>, memref<256xf32, 3>
    %2 = tile.load %b : memref<256xf32, 3> -> tensor<256xf32, #t>
    tile.store %2, %y : tensor<256xf32, #t>, memref<256xf32>
  }
  return
}
