// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-search-schedules=limit=65536 --verify-semantics | FileCheck %s --check-prefix=ROOM
// RUN: drawloom-opt %s --nvptx-search-schedules=limit=16384 --verify-semantics | FileCheck %s --check-prefix=SHORT
// RUN: drawloom-opt %s --nvptx-search-schedules=limit=16384 --nvptx-allocate-shared=limit=16384 --verify-semantics -o /dev/null

// Both weights are staged once, in front of the loop, where memory holds both; else each takes the place of the other, and the schedule
// says so.
// ROOM: drawloom.schedule = {staging = 98304
// ROOM: memref<64x64xbf16, {{.*}}3>
// ROOM: memref<64x64xbf16, {{.*}}3>
// ROOM: scf.for
// SHORT: drawloom.schedule = {staging = 0
// SHORT: scf.for
// SHORT: memref<64x64xbf16, {{.*}}3>
func.func @f(%x: memref<1024x64xbf16>, %w: memref<64x64xbf16>, %v: memref<64x64xbf16>, %y: memref<1024x64xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 3 : i64} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 16 : index
  %end = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %sums = tile.splat %zero : f32 -> tensor<16x64xf32>
  scf.for %i = %c0 to %end step %step {
    %xv = memref.subview %x[%i, 0] [16, 64] [1, 1] : memref<1024x64xbf16> to memref<16x64xbf16, strided<[64, 1], offset: ?>>
    %yv = memref.subview %y[%i, 0] [16, 64] [1, 1] : memref<1024x64xf32> to memref<16x64xf32, strided<[64, 1], offset: ?>>
    %xt = tile.load %xv : memref<16x64xbf16, strided<[64, 1], offset: ?>> -> tensor<16x64xbf16>
    %wt = tile.load %w : memref<64x64xbf16> -> tensor<64x64xbf16>
    %vt = tile.load %v : memref<64x64xbf16> -> tensor<64x64xbf16>
    %z = tile.dot %xt, %wt, %sums : tensor<16x64xbf16>, tensor<64x64xbf16>, tensor<16x64xf32>
    %h = arith.truncf %z : tensor<16x64xf32> to tensor<16x64xbf16>
    %d = tile.dot %h, %vt, %sums : tensor<16x64xbf16>, tensor<64x64xbf16>, tensor<16x64xf32>
    tile.store %d, %yv : tensor<16x64xf32>, memref<16x64xf32, strided<[64, 1], offset: ?>>
  }
  return
}
