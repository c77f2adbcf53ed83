// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-allocate-shared --verify-semantics | FileCheck %s

#t = #tile.layout<registers = [0:128*2], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = [0:32, 0:64]>
#u = #tile.layout<registers = [0:1], lanes = [0:2, 0:4, 0:8, 0:16, 0:32], warps = [0:64, 0:128]>

// What one iteration stores the next one reads, and stores over what others still read: a barrier before each.
// CHECK: tile.store
// CHECK: scf.for
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: }
func.func @f(%x: memref<256xf32>, %out: memref<256xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %0 = tile.load %x : memref<256xf32> -> tensor<256xf32, #t>
  %a = tile.alloc : memref<256xf32, 3>
  tile.store %0, %a : tensor<256xf32, #t>, memref<256xf32, 3>
  scf.for %i = %c0 to %c9 step %c1 {
    %1 = tile.load %a : memref<256xf32, 3> -> tensor<256xf32, #u>
    tile.store %1, %out : tensor<256xf32, #u>, memref<256xf32>
    tile.store %0, %a : tensor<256xf32, #t>, memref<256xf32, 3>
  }
  return
}
