// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-pad-buffers --verify-semantics | FileCheck %s
// RUN: drawloom-opt %s --nvptx-pad-buffers=limit=4096 --verify-semantics | FileCheck %s --check-prefix=FULL

// Lanes that read a column of 32 words would all ask the same bank: rows are 33 words apart, where memory has room.
// CHECK: tile.alloc : memref<32x32xf32, strided<[33, 1]>, 3>
// FULL: tile.alloc : memref<32x32xf32, 3>
#rows = #tile.layout<registers = [0:1*32], lanes = [1:1, 1:2, 1:4, 1:8, 1:16], warps = []>
#columns = #tile.layout<registers = [1:1*32], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = []>
func.func @f(%x: memref<32x32xf32>, %y: memref<32x32xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64, drawloom.warps = 1 : i64} {
  %buffer = tile.alloc : memref<32x32xf32, 3>
  %t = tile.load %x : memref<32x32xf32> -> tensor<32x32xf32, #rows>
  tile.store %t, %buffer : tensor<32x32xf32, #rows>, memref<32x32xf32, 3>
  %u = tile.load %buffer : memref<32x32xf32, 3> -> tensor<32x32xf32, #columns>
  tile.store %u, %y : tensor<32x32xf32, #columns>, memref<32x32xf32>
  return
}
