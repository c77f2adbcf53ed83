// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower | FileCheck %s

#sum = #tile.layout<registers = [1:1, 1:2], lanes = [1:4, 1:8, 0:1, 0:2, 0:4], warps = []>
// CHECK-NOT: nvvm.mma.sync
// CHECK: llvm.intr.fma
// CHECK-NOT: nvvm.mma.sync
func.func @f(%out: memref<8x16xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 0 : i64, drawloom.shared_bytes = 1024 : i64, drawloom.warps = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %a = tile.alloc at 0 : memref<8x4xf32, 3>
  %b = tile.alloc at 512 : memref<4x16xf32, 3>
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
func.func @long(%out: memref<8x16xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 0 : i64, drawloom.shared_bytes = 6144 : i64, drawloom.warps = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %a = tile.alloc at 0 : memref<8x64xf32, 3>
  %b = tile.alloc at 2048 : memref<64x16xf32, 3>
  %start = tile.splat %zero : f32 -> tensor<8x16xf32, #sum>
  %c = tile.dot %a, %b, %start : memref<8x64xf32, 3>, memref<64x16xf32, 3>, tensor<8x16xf32, #sum>
  tile.store %c, %out : tensor<8x16xf32, #sum>, memref<8x16xf32>
  return
}
