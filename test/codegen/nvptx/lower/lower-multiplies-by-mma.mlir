// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower --verify-semantics | FileCheck %s

#sum = #tile.layout<registers = [1:1, 0:8], lanes = [1:2, 1:4, 0:1, 0:2, 0:4], warps = []>
#wide = #tile.layout<registers = [1:1, 1:2, 1:4], lanes = [1:8, 0:1, 0:2, 0:4, 0:8], warps = []>
#narrow = #tile.layout<registers = [1:1, 1:2], lanes = [1:4, 0:1, 0:2, 0:4, 0:8], warps = []>

// One step of 16: both operands by ldmatrix, the right one transposed as it lies in rows of steps.
// CHECK: llvm.mlir.global external @global_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK: llvm.func @f(
// CHECK-SAME: nvvm.kernel, nvvm.reqntid = array<i32: 32>
// CHECK-DAG: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32
// CHECK-DAG: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>, num = 2 : i32
// CHECK: nvvm.mma.sync
// CHECK-SAME: multiplicandAPtxType = #nvvm.mma_type<bf16>
// CHECK-SAME: shape = #nvvm.shape<m = 16, n = 8, k = 16>
// CHECK-NOT: nvvm.mma.sync
// CHECK-NOT: llvm.intr.fma
func.func @f(%x: memref<16x16xbf16>, %y: memref<16x8xbf16>, %out: memref<16x8xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64, drawloom.shared_bytes = 1024 : i64, drawloom.warps = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %a = tile.alloc at 0 : memref<16x16xbf16, 3>
  %b = tile.alloc at 512 : memref<16x8xbf16, 3>
  %xt = tile.load %x : memref<16x16xbf16> -> tensor<16x16xbf16, #wide>
  tile.store %xt, %a : tensor<16x16xbf16, #wide>, memref<16x16xbf16, 3>
  %yt = tile.load %y : memref<16x8xbf16> -> tensor<16x8xbf16, #narrow>
  tile.store %yt, %b : tensor<16x8xbf16, #narrow>, memref<16x8xbf16, 3>
  tile.barrier
  %start = tile.splat %zero : f32 -> tensor<16x8xf32, #sum>
  %c = tile.dot %a, %b, %start : memref<16x16xbf16, 3>, memref<16x8xbf16, 3>, tensor<16x8xf32, #sum>
  tile.store %c, %out : tensor<16x8xf32, #sum>, memref<16x8xf32>
  return
}
