// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower --verify-semantics | FileCheck %s

#wide = #tile.layout<registers = [1:1, 1:2, 1:4], lanes = [1:8, 0:1, 0:2, 0:4, 0:8], warps = []>
#pairs = #tile.layout<registers = [1:1], lanes = [1:2, 1:4, 1:8, 0:1, 0:2], warps = []>
#single = #tile.layout<registers = [], lanes = [1:1, 1:2, 1:4, 1:8, 0:1], warps = []>

// Rows that are not there are read as 0 bytes from an address that is: zeros fill the rest.
// CHECK-LABEL: @f
// CHECK: %[[SIZE:.*]] = llvm.select %{{.*}} : i1, i32
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache =  cg, %[[SIZE]]
// Four bytes go through the first-level cache.
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache =  ca :
// Less than four bytes are loaded and stored.
// CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> bf16
// CHECK: llvm.store %{{.*}} : bf16, !llvm.ptr<3>
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 1
func.func @f(%x: memref<40x16xbf16>, %rows: index {check.range = array<f64: 3.0, 13.0>}, %outs: memref<16x16xbf16>, %four_out: memref<4x16xbf16>, %two_out: memref<2x16xbf16>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64, drawloom.shared_bytes = 2048 : i64, drawloom.warps = 1 : i64} {
  %buffer = tile.alloc at 0 : memref<16x16xbf16, strided<[24, 1]>, 3>
  %part = memref.subview %x[0, 0] [%rows, 16] [1, 1] : memref<40x16xbf16> to memref<?x16xbf16, strided<[16, 1]>>
  tile.copy_async %part, %buffer by tensor<16x16xbf16, #wide> : memref<?x16xbf16, strided<[16, 1]>>, memref<16x16xbf16, strided<[24, 1]>, 3>
  %four = memref.subview %x[0, 0] [4, 16] [1, 1] : memref<40x16xbf16> to memref<4x16xbf16, strided<[16, 1]>>
  %to = tile.alloc at 1024 : memref<4x16xbf16, 3>
  tile.copy_async %four, %to by tensor<4x16xbf16, #pairs> : memref<4x16xbf16, strided<[16, 1]>>, memref<4x16xbf16, 3>
  %two = memref.subview %x[0, 0] [2, 16] [1, 1] : memref<40x16xbf16> to memref<2x16xbf16, strided<[16, 1]>>
  %last = tile.alloc at 1280 : memref<2x16xbf16, 3>
  tile.copy_async %two, %last by tensor<2x16xbf16, #single> : memref<2x16xbf16, strided<[16, 1]>>, memref<2x16xbf16, 3>
  tile.commit_copies
  tile.wait_copies 1
  tile.wait_copies 0
  tile.barrier
  %there = tile.load %buffer : memref<16x16xbf16, strided<[24, 1]>, 3> -> tensor<16x16xbf16, #wide>
  tile.store %there, %outs : tensor<16x16xbf16, #wide>, memref<16x16xbf16>
  %four_there = tile.load %to : memref<4x16xbf16, 3> -> tensor<4x16xbf16, #pairs>
  tile.store %four_there, %four_out : tensor<4x16xbf16, #pairs>, memref<4x16xbf16>
  %two_there = tile.load %last : memref<2x16xbf16, 3> -> tensor<2x16xbf16, #single>
  tile.store %two_there, %two_out : tensor<2x16xbf16, #single>, memref<2x16xbf16>
  return
}
