// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower --verify-semantics | FileCheck %s

#sum = #tile.layout<registers = [1:1, 0:8], lanes = [1:2, 1:4, 0:1, 0:2, 0:4], warps = []>
#left = #tile.layout<registers = [1:1, 0:8, 1:8], lanes = [1:2, 1:4, 0:1, 0:2, 0:4], warps = []>
#narrow = #tile.layout<registers = [1:1, 1:2], lanes = [1:4, 0:1, 0:2, 0:4, 0:8], warps = []>

// A left operand in the registers of a fragment is read from no memory.
// CHECK-COUNT-1: nvvm.ldmatrix
// CHECK-NOT: nvvm.ldmatrix
// CHECK: nvvm.mma.sync
func.func @f(%x: memref<16x16xbf16>, %y: memref<16x8xbf16>, %out: memref<16x8xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64, drawloom.shared_bytes = 1024 : i64, drawloom.warps = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %a = tile.load %x : memref<16x16xbf16> -> tensor<16x16xbf16, #left>
  %b = tile.alloc at 512 : memref<16x8xbf16, 3>
  %yt = tile.load %y : memref<16x8xbf16> -> tensor<16x8xbf16, #narrow>
  tile.store %yt, %b : tensor<16x8xbf16, #narrow>, memref<16x8xbf16, 3>
  tile.barrier
  %start = tile.splat %zero : f32 -> tensor<16x8xf32, #sum>
  %c = tile.dot %a, %b, %start : tensor<16x16xbf16, #left>, memref<16x8xbf16, 3>, tensor<16x8xf32, #sum>
  tile.store %c, %out : tensor<16x8xf32, #sum>, memref<16x8xf32>
  return
}
