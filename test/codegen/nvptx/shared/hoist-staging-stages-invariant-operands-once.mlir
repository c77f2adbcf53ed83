// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-assign-layouts --nvptx-stage-operands --nvptx-hoist-staging -split-input-file --verify-semantics | FileCheck %s

// The right operand is the same in all iterations: it is loaded and stored into shared memory in front of the loop.
// CHECK-LABEL: @a_loop_that_runs
// CHECK: tile.load %arg1
// CHECK: tile.store
// CHECK: scf.for
// CHECK-NOT: tile.load %arg1
// CHECK: tile.dot
func.func @a_loop_that_runs(%a: memref<128x32xbf16>, %b: memref<32x64xbf16>, %out: memref<64x64xf32>)
    attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %start = tile.splat %zero : f32 -> tensor<64x64xf32>
  %sum = scf.for %i = %c0 to %c128 step %c64 iter_args(%s = %start) -> (tensor<64x64xf32>) {
    %part = memref.subview %a[%i, 0] [64, 32] [1, 1] : memref<128x32xbf16> to memref<64x32xbf16, strided<[32, 1], offset: ?>>
    %at = tile.load %part : memref<64x32xbf16, strided<[32, 1], offset: ?>> -> tensor<64x32xbf16>
    %bt = tile.load %b : memref<32x64xbf16> -> tensor<32x64xbf16>
    %next = tile.dot %at, %bt, %s : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %out : tensor<64x64xf32>, memref<64x64xf32>
  return
}

// -----

// A loop that may not run at all may have nothing to read at %row.
// CHECK-LABEL: @a_loop_that_may_not_run
// CHECK: scf.for
// CHECK: memref.subview %arg1
// CHECK: tile.load
func.func @a_loop_that_may_not_run(%a: memref<128x32xbf16>, %b: memref<32x64xbf16>, %out: memref<64x64xf32>, %row: index, %n: index)
    attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %start = tile.splat %zero : f32 -> tensor<64x64xf32>
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%s = %start) -> (tensor<64x64xf32>) {
    %part = memref.subview %a[%i, 0] [64, 16] [1, 1] : memref<128x32xbf16> to memref<64x16xbf16, strided<[32, 1], offset: ?>>
    %at = tile.load %part : memref<64x16xbf16, strided<[32, 1], offset: ?>> -> tensor<64x16xbf16>
    %rows = memref.subview %b[%row, 0] [16, 64] [1, 1] : memref<32x64xbf16> to memref<16x64xbf16, strided<[64, 1], offset: ?>>
    %bt = tile.load %rows : memref<16x64xbf16, strided<[64, 1], offset: ?>> -> tensor<16x64xbf16>
    %next = tile.dot %at, %bt, %s : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %out : tensor<64x64xf32>, memref<64x64xf32>
  return
}

// -----

// Both stores are the same in each iteration, but what is read between them is not what the second one stores.
// CHECK-LABEL: @a_buffer_that_changes
// CHECK: scf.for
// CHECK: %[[BUFFER:.*]] = tile.alloc
// CHECK: %[[FIRST:.*]] = tile.load %arg0
// CHECK: tile.store %[[FIRST]], %[[BUFFER]]
// CHECK: tile.load %[[BUFFER]]
// CHECK: %[[SECOND:.*]] = tile.load %arg1
// CHECK: tile.store %[[SECOND]], %[[BUFFER]]
// CHECK: tile.load %[[BUFFER]]
func.func @a_buffer_that_changes(%a: memref<64xf32>, %b: memref<64xf32>, %out: memref<64xf32>)
    attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %start = tile.splat %zero : f32 -> tensor<64xf32>
  %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %start) -> (tensor<64xf32>) {
    %buffer = tile.alloc : memref<64xf32, 3>
    %at = tile.load %a : memref<64xf32> -> tensor<64xf32>
    tile.store %at, %buffer : tensor<64xf32>, memref<64xf32, 3>
    %first = tile.load %buffer : memref<64xf32, 3> -> tensor<64xf32>
    %bt = tile.load %b : memref<64xf32> -> tensor<64xf32>
    tile.store %bt, %buffer : tensor<64xf32>, memref<64xf32, 3>
    %second = tile.load %buffer : memref<64xf32, 3> -> tensor<64xf32>
    %product = arith.mulf %first, %second : tensor<64xf32>
    %next = arith.addf %s, %product : tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  tile.store %sum, %out : tensor<64xf32>, memref<64xf32>
  return
}
