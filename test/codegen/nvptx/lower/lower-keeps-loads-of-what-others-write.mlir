// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower | FileCheck %s

#t = #tile.layout<registers = [0:128*2], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = [0:32, 0:64]>

// What a kernel only reads, and what it only writes, is nobody else's for LLVM
// as well. A result that it reads may have been written by another thread in
// front of a barrier, of which `noalias` would say that it changes nothing.
// CHECK: llvm.func @f(%arg0: !llvm.ptr<1> {drawloom.bytes = 1024 : i64, llvm.align = 16 : i64, llvm.noalias, llvm.readonly},
// CHECK-SAME: %arg1: !llvm.ptr<1> {drawloom.bytes = 1024 : i64, llvm.align = 16 : i64, llvm.noalias},
// CHECK-SAME: %arg2: !llvm.ptr<1> {drawloom.bytes = 1024 : i64, llvm.align = 16 : i64},
func.func @f(%x: memref<256xf32>, %y: memref<256xf32>, %z: memref<256xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 4 : i64} {
  %0 = tile.load %x : memref<256xf32> -> tensor<256xf32, #t>
  tile.store %0, %y : tensor<256xf32, #t>, memref<256xf32>
  tile.store %0, %z : tensor<256xf32, #t>, memref<256xf32>
  tile.barrier
  %1 = tile.load %z : memref<256xf32> -> tensor<256xf32, #t>
  tile.store %1, %y : tensor<256xf32, #t>, memref<256xf32>
  return
}
