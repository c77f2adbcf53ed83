// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower --verify-semantics --verify-semantics-rtol=0 --verify-semantics-atol=7.8125e-3 | FileCheck %s

// Rounding operands to 11 digits moves a product by up to 2^-10 of itself: eight of numbers up to 1 by up to 2^-7.
#sum = #tile.layout<registers = [1:1, 0:8], lanes = [1:2, 1:4, 0:1, 0:2, 0:4], warps = []>
#x = #tile.layout<registers = [1:1, 1:2], lanes = [1:4, 0:1, 0:2, 0:4, 0:8], warps = []>
#y = #tile.layout<registers = [1:1], lanes = [1:2, 1:4, 0:1, 0:2, 0:4], warps = []>

// Rows of steps are read as matrices, columns number by number; each is rounded, and eight steps are one instruction.
// CHECK-LABEL: @f
// CHECK-COUNT-2: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK: nvvm.ldmatrix {{.*}}num = 4
// CHECK-COUNT-4: "llvm.nvvm.f2tf32.rna"
// CHECK: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<tf32>{{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 8>
func.func @f(%x: memref<16x8xf32> {check.range = array<f64: -1.0, 1.0>}, %y: memref<8x8xf32> {check.range = array<f64: -1.0, 1.0>}, %out: memref<16x8xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64, drawloom.shared_bytes = 1024 : i64, drawloom.warps = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %a = tile.alloc at 0 : memref<16x8xf32, 3>
  %b = tile.alloc at 512 : memref<8x8xf32, 3>
  %xt = tile.load %x : memref<16x8xf32> -> tensor<16x8xf32, #x>
  tile.store %xt, %a : tensor<16x8xf32, #x>, memref<16x8xf32, 3>
  %yt = tile.load %y : memref<8x8xf32> -> tensor<8x8xf32, #y>
  tile.store %yt, %b : tensor<8x8xf32, #y>, memref<8x8xf32, 3>
  tile.barrier
  %start = tile.splat %zero : f32 -> tensor<16x8xf32, #sum>
  %c = tile.dot %a, %b, %start {tf32} : memref<16x8xf32, 3>, memref<8x8xf32, 3>, tensor<16x8xf32, #sum>
  tile.store %c, %out : tensor<16x8xf32, #sum>, memref<16x8xf32>
  return
}
