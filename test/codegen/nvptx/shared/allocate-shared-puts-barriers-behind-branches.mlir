// RUN: drawloom-opt %s --nvptx-allocate-shared --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The branch has a barrier of its own, which not all programs come by.
// CHECK: scf.if
// CHECK: tile.barrier
// CHECK: }
// CHECK: tile.barrier
// CHECK: tile.load
#t = #tile.layout<registers = [0:128*2], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = [0:32, 0:64]>
#u = #tile.layout<registers = [0:1], lanes = [0:2, 0:4, 0:8, 0:16, 0:32], warps = [0:64, 0:128]>
func.func @f(%x: memref<256xf32>, %c: i1, %out: memref<256xf32>, %more: memref<256xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64} {
  %0 = tile.load %x : memref<256xf32> -> tensor<256xf32, #t>
  %a = tile.alloc : memref<256xf32, 3>
  tile.store %0, %a : tensor<256xf32, #t>, memref<256xf32, 3>
  scf.if %c {
    %1 = tile.load %a : memref<256xf32, 3> -> tensor<256xf32, #u>
    tile.store %1, %out : tensor<256xf32, #u>, memref<256xf32>
  }
  %2 = tile.load %a : memref<256xf32, 3> -> tensor<256xf32, #u>
  tile.store %2, %more : tensor<256xf32, #u>, memref<256xf32>
  return
}
