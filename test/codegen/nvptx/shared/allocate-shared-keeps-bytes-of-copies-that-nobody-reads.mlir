// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-allocate-shared --verify-semantics | FileCheck %s

#t = #tile.layout<registers = [0:128*2], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = [0:32, 0:64]>

// The copy is under way until it is waited for, and its bytes are no one else's.
// CHECK-LABEL: func.func @in_vain
// CHECK: tile.alloc at 0
// CHECK: tile.alloc at 1024
// CHECK: tile.wait_copies 0
// CHECK: tile.alloc at 0
func.func @in_vain(%x: memref<256xf32>, %y: memref<256xf32>, %z: memref<256xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64} {
  %0 = tile.load %x : memref<256xf32> -> tensor<256xf32, #t>
  %a = tile.alloc : memref<256xf32, 3>
  tile.copy_async %x, %a by tensor<256xf32, #t> : memref<256xf32>, memref<256xf32, 3>
  %b = tile.alloc : memref<256xf32, 3>
  tile.store %0, %b : tensor<256xf32, #t>, memref<256xf32, 3>
  %1 = tile.load %b : memref<256xf32, 3> -> tensor<256xf32, #t>
  tile.store %1, %y : tensor<256xf32, #t>, memref<256xf32>
  tile.commit_copies
  tile.wait_copies 0
  %c = tile.alloc : memref<256xf32, 3>
  tile.store %0, %c : tensor<256xf32, #t>, memref<256xf32, 3>
  %2 = tile.load %c : memref<256xf32, 3> -> tensor<256xf32, #t>
  tile.store %2, %z : tensor<256xf32, #t>, memref<256xf32>
  return
}

// What is copied over what was read is such a copy, too.
// CHECK-LABEL: func.func @behind_the_last_read
// CHECK: tile.alloc at 0
// CHECK: tile.alloc at 1024
func.func @behind_the_last_read(%x: memref<256xf32>, %y: memref<256xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64} {
  %0 = tile.load %x : memref<256xf32> -> tensor<256xf32, #t>
  %a = tile.alloc : memref<256xf32, 3>
  tile.store %0, %a : tensor<256xf32, #t>, memref<256xf32, 3>
  %1 = tile.load %a : memref<256xf32, 3> -> tensor<256xf32, #t>
  tile.copy_async %x, %a by tensor<256xf32, #t> : memref<256xf32>, memref<256xf32, 3>
  %b = tile.alloc : memref<256xf32, 3>
  tile.store %1, %b : tensor<256xf32, #t>, memref<256xf32, 3>
  %2 = tile.load %b : memref<256xf32, 3> -> tensor<256xf32, #t>
  tile.store %2, %y : tensor<256xf32, #t>, memref<256xf32>
  tile.commit_copies
  tile.wait_copies 0
  return
}
