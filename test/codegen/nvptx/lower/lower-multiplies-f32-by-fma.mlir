// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower --verify-semantics | FileCheck %s

#sum = #tile.layout<registers = [1:1, 1:2], lanes = [1:4, 1:8, 0:1, 0:2, 0:4], warps = []>
#x = #tile.layout<registers = [], lanes = [1:1, 1:2, 0:1, 0:2, 0:4], warps = []>
#y = #tile.layout<registers = [1:1], lanes = [1:2, 1:4, 1:8, 0:1, 0:2], warps = []>
#long_x = #tile.layout<registers = [1:1, 1:2, 0:2, 0:4], lanes = [1:4, 1:8, 1:16, 1:32, 0:1], warps = []>
#long_y = #tile.layout<registers = [1:1, 1:2, 0:8*8], lanes = [1:4, 1:8, 0:1, 0:2, 0:4], warps = []>

// CHECK-NOT: nvvm.mma.sync
// CHECK: llvm.intr.fma
// CHECK-NOT: nvvm.mma.sync
func.func @f(%x: memref<8x4xf32>, %y: memref<4x16xf32>, %out: memref<8x16xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64, drawloom.shared_bytes = 1024 : i64, drawloom.warps = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %a = tile.alloc at 0 : memref<8x4xf32, 3>
  %b = tile.alloc at 512 : memref<4x16xf32, 3>
  %xt = tile.load %x : memref<8x4xf32> -> tensor<8x4xf32, #x>
  tile.store %xt, %a : tensor<8x4xf32, #x>, memref<8x4xf32, 3>
  %yt = tile.load %y : memref<4x16xf32> -> tensor<4x16xf32, #y>
  tile.store %yt, %b : tensor<4x16xf32, #y>, memref<4x16xf32, 3>
  tile.barrier
  %start = tile.splat %zero : f32 -> tensor<8x16xf32, #sum>
  %c = tile.dot %a, %b, %start : memref<8x4xf32, 3>, memref<4x16xf32, 3>, tensor<8x16xf32, #sum>
  tile.store %c, %out : tensor<8x16xf32, #sum>, memref<8x16xf32>
  return
}

// A loop over many steps takes several vectors of them in each turn: here 8 of 4 steps, for 4 sums.
// CHECK-LABEL: @long
// CHECK-COUNT-128: llvm.intr.fma
// CHECK-NOT: llvm.intr.fma
// CHECK: llvm.return
func.func @long(%x: memref<8x64xf32>, %y: memref<64x16xf32>, %out: memref<8x16xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64, drawloom.shared_bytes = 6144 : i64, drawloom.warps = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %a = tile.alloc at 0 : memref<8x64xf32, 3>
  %b = tile.alloc at 2048 : memref<64x16xf32, 3>
  %xt = tile.load %x : memref<8x64xf32> -> tensor<8x64xf32, #long_x>
  tile.store %xt, %a : tensor<8x64xf32, #long_x>, memref<8x64xf32, 3>
  %yt = tile.load %y : memref<64x16xf32> -> tensor<64x16xf32, #long_y>
  tile.store %yt, %b : tensor<64x16xf32, #long_y>, memref<64x16xf32, 3>
  tile.barrier
  %start = tile.splat %zero : f32 -> tensor<8x16xf32, #sum>
  %c = tile.dot %a, %b, %start : memref<8x64xf32, 3>, memref<64x16xf32, 3>, tensor<8x16xf32, #sum>
  tile.store %c, %out : tensor<8x16xf32, #sum>, memref<8x16xf32>
  return
}
