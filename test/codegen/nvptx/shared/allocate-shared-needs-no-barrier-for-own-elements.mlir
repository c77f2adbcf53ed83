// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-allocate-shared --verify-semantics | FileCheck %s

#own = #tile.layout<registers = [0:128*2], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = [0:32, 0:64]>
#copies = #tile.layout<registers = [0:64*4], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = [0:32, ?]>

// A thread that reads what it stored itself waits for nobody.
// CHECK-LABEL: @own
// CHECK-NOT: tile.barrier
// CHECK: return
func.func @own(%x: memref<256xf32>, %out: memref<256xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %0 = tile.load %x : memref<256xf32> -> tensor<256xf32, #own>
  %a = tile.alloc : memref<256xf32, 3>
  tile.store %0, %a : tensor<256xf32, #own>, memref<256xf32, 3>
  scf.for %i = %c0 to %c9 step %c1 {
    %1 = tile.load %a : memref<256xf32, 3> -> tensor<256xf32, #own>
    %2 = arith.addf %1, %1 : tensor<256xf32, #own>
    tile.store %2, %a : tensor<256xf32, #own>, memref<256xf32, 3>
  }
  %3 = tile.load %a : memref<256xf32, 3> -> tensor<256xf32, #own>
  tile.store %3, %out : tensor<256xf32, #own>, memref<256xf32>
  return
}

// Of copies in two warps, one warp stores.
// CHECK-LABEL: @copies
// CHECK: tile.store
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.load
func.func @copies(%x: memref<256xf32>, %out: memref<256xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64} {
  %0 = tile.load %x : memref<256xf32> -> tensor<256xf32, #copies>
  %a = tile.alloc : memref<256xf32, 3>
  tile.store %0, %a : tensor<256xf32, #copies>, memref<256xf32, 3>
  %1 = tile.load %a : memref<256xf32, 3> -> tensor<256xf32, #copies>
  tile.store %1, %out : tensor<256xf32, #copies>, memref<256xf32>
  return
}

// Threads beyond the border of a tile read its first element, which another one
// stores again.
// CHECK-LABEL: @beyond
// CHECK: scf.for
// CHECK: tile.store
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.load
func.func @beyond(%x: memref<250xf32>, %out: memref<250xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %0 = tile.load %x : memref<250xf32> -> tensor<250xf32, #own>
    %a = tile.alloc : memref<250xf32, 3>
    tile.store %0, %a : tensor<250xf32, #own>, memref<250xf32, 3>
    %1 = tile.load %a : memref<250xf32, 3> -> tensor<250xf32, #own>
    tile.store %1, %out : tensor<250xf32, #own>, memref<250xf32>
  }
  return
}
