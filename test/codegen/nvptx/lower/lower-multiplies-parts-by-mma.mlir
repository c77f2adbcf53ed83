// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower --verify-semantics | FileCheck %s

// Two products one below the other: as many instructions as each part needs, and the right operand's words are
// those of the part that the rows are of.
#sum = #tile.layout<registers = [1:1, 0:8, 0:16], lanes = [1:2, 1:4, 0:1, 0:2, 0:4], warps = []>
#x = #tile.layout<registers = [1:1, 1:2, 1:4, 0:16], lanes = [1:8, 0:1, 0:2, 0:4, 0:8], warps = []>
#y = #tile.layout<registers = [1:1, 1:2, 1:4], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = []>
// CHECK-COUNT-2: nvvm.ldmatrix
// CHECK-NOT: nvvm.ldmatrix
// CHECK: nvvm.mma.sync
// CHECK-COUNT-2: nvvm.ldmatrix
// CHECK-NOT: nvvm.ldmatrix
// CHECK: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
func.func @f(%x: memref<32x16xbf16>, %y: memref<32x8xbf16>, %out: memref<32x8xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64, drawloom.shared_bytes = 1536 : i64, drawloom.warps = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %a = tile.alloc at 0 : memref<32x16xbf16, 3>
  %b = tile.alloc at 1024 : memref<32x8xbf16, 3>
  %xt = tile.load %x : memref<32x16xbf16> -> tensor<32x16xbf16, #x>
  tile.store %xt, %a : tensor<32x16xbf16, #x>, memref<32x16xbf16, 3>
  %yt = tile.load %y : memref<32x8xbf16> -> tensor<32x8xbf16, #y>
  tile.store %yt, %b : tensor<32x8xbf16, #y>, memref<32x8xbf16, 3>
  tile.barrier
  %start = tile.splat %zero : f32 -> tensor<32x8xf32, #sum>
  %c = tile.dot %a, %b, %start {batch = 2 : i64} : memref<32x16xbf16, 3>, memref<32x8xbf16, 3>, tensor<32x8xf32, #sum>
  tile.store %c, %out : tensor<32x8xf32, #sum>, memref<32x8xf32>
  return
}
