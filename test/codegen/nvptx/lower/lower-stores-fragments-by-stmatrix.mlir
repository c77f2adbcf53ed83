// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower=store-matrices=true --verify-semantics | FileCheck %s
// RUN: drawloom-opt %s --nvptx-lower --verify-semantics | FileCheck %s --check-prefix=WITHOUT

#fragment = #tile.layout<registers = [1:1, 0:8, 1:8*2], lanes = [1:2, 1:4, 0:1, 0:2, 0:4], warps = []>
#rows = #tile.layout<registers = [1:1, 1:2, 1:4], lanes = [1:8, 0:1, 0:2, 0:4, 0:8], warps = []>

// What matrix instructions leave in registers, 16 x 16 numbers of 16 bits, is four matrices: one instruction instead of four
// accesses.
// CHECK-LABEL: @fragments
// CHECK-COUNT-1: nvvm.stmatrix %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {{.*}}layout = #nvvm.mma_layout<row>
// CHECK-NOT: llvm.store {{.*}}!llvm.ptr<3>
// CHECK-NOT: nvvm.stmatrix
// WITHOUT-LABEL: @fragments
// WITHOUT-COUNT-4: llvm.store {{.*}}!llvm.ptr<3>
func.func @fragments(%x: memref<16x16xbf16>, %out: memref<16x16xbf16>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64, drawloom.shared_bytes = 1024 : i64, drawloom.warps = 1 : i64} {
  %a = tile.load %x : memref<16x16xbf16> -> tensor<16x16xbf16, #fragment>
  %b = tile.alloc at 0 : memref<16x16xbf16, strided<[24, 1]>, 3>
  tile.store %a, %b : tensor<16x16xbf16, #fragment>, memref<16x16xbf16, strided<[24, 1]>, 3>
  tile.barrier
  %there = tile.load %b : memref<16x16xbf16, strided<[24, 1]>, 3> -> tensor<16x16xbf16, #rows>
  tile.store %there, %out : tensor<16x16xbf16, #rows>, memref<16x16xbf16>
  return
}

// Other layouts, numbers of 32 bits, and rows that do not begin at multiples of 16 bytes are stored as they were.
// CHECK-LABEL: @others
// CHECK-NOT: nvvm.stmatrix
func.func @others(%x: memref<16x16xbf16>, %y: memref<16x16xf32>, %out_b: memref<16x16xbf16>, %out_d: memref<16x16xf32>, %out_f: memref<16x16xbf16>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64, drawloom.shared_bytes = 4096 : i64, drawloom.warps = 1 : i64} {
  %a = tile.load %x : memref<16x16xbf16> -> tensor<16x16xbf16, #rows>
  %b = tile.alloc at 0 : memref<16x16xbf16, strided<[24, 1]>, 3>
  tile.store %a, %b : tensor<16x16xbf16, #rows>, memref<16x16xbf16, strided<[24, 1]>, 3>
  %c = tile.load %y : memref<16x16xf32> -> tensor<16x16xf32, #fragment>
  %d = tile.alloc at 1024 : memref<16x16xf32, strided<[24, 1]>, 3>
  tile.store %c, %d : tensor<16x16xf32, #fragment>, memref<16x16xf32, strided<[24, 1]>, 3>
  %e = tile.load %x : memref<16x16xbf16> -> tensor<16x16xbf16, #fragment>
  %f = tile.alloc at 3072 : memref<16x16xbf16, strided<[20, 1]>, 3>
  tile.store %e, %f : tensor<16x16xbf16, #fragment>, memref<16x16xbf16, strided<[20, 1]>, 3>
  tile.barrier
  %b_there = tile.load %b : memref<16x16xbf16, strided<[24, 1]>, 3> -> tensor<16x16xbf16, #rows>
  tile.store %b_there, %out_b : tensor<16x16xbf16, #rows>, memref<16x16xbf16>
  %d_there = tile.load %d : memref<16x16xf32, strided<[24, 1]>, 3> -> tensor<16x16xf32, #rows>
  tile.store %d_there, %out_d : tensor<16x16xf32, #rows>, memref<16x16xf32>
  %f_there = tile.load %f : memref<16x16xbf16, strided<[20, 1]>, 3> -> tensor<16x16xbf16, #rows>
  tile.store %f_there, %out_f : tensor<16x16xbf16, #rows>, memref<16x16xbf16>
  return
}
