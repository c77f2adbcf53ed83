// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-assign-layouts --nvptx-stage-operands --verify-semantics | FileCheck %s

// Rows of a buffer are operands where they are; columns from the fourth on, whose vectors are not whole, are copied.
// CHECK-LABEL: @rows
// CHECK: %[[ALL:.*]] = tile.alloc
// CHECK: scf.for
// CHECK: %[[ROWS:.*]] = memref.subview %[[ALL]]
// CHECK: tile.dot %[[ROWS]],
// CHECK-LABEL: @columns
// CHECK: %[[ALL:.*]] = tile.alloc
// CHECK: %[[COLUMNS:.*]] = memref.subview %[[ALL]]
// CHECK: %[[COPY:.*]] = tile.alloc
// CHECK: tile.dot %[[COPY]],
func.func @rows(%x: memref<64x64xbf16>, %n: index, %out: memref<16x64xf32>)
    attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %start = tile.splat %zero : f32 -> tensor<16x64xf32>
  %t = tile.load %x : memref<64x64xbf16> -> tensor<64x64xbf16>
  %all = tile.alloc : memref<64x64xbf16, 3>
  tile.store %t, %all : tensor<64x64xbf16>, memref<64x64xbf16, 3>
  %sum = scf.for %i = %c0 to %n step %c16 iter_args(%c = %start) -> (tensor<16x64xf32>) {
    %rows = memref.subview %all[%i, 0] [16, 64] [1, 1] : memref<64x64xbf16, 3> to memref<16x64xbf16, strided<[64, 1], offset: ?>, 3>
    %next = tile.dot %rows, %all, %c : memref<16x64xbf16, strided<[64, 1], offset: ?>, 3>, memref<64x64xbf16, 3>, tensor<16x64xf32>
    scf.yield %next : tensor<16x64xf32>
  }
  tile.store %sum, %out : tensor<16x64xf32>, memref<16x64xf32>
  return
}

func.func @columns(%x: memref<64x64xbf16>, %out: memref<64x64xf32>)
    attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %start = tile.splat %zero : f32 -> tensor<64x64xf32>
  %t = tile.load %x : memref<64x64xbf16> -> tensor<64x64xbf16>
  %all = tile.alloc : memref<64x64xbf16, 3>
  tile.store %t, %all : tensor<64x64xbf16>, memref<64x64xbf16, 3>
  %columns = memref.subview %all[0, 4] [64, 16] [1, 1] : memref<64x64xbf16, 3> to memref<64x16xbf16, strided<[64, 1], offset: 4>, 3>
  %rows = memref.subview %all[16, 0] [16, 64] [1, 1] : memref<64x64xbf16, 3> to memref<16x64xbf16, strided<[64, 1], offset: 1024>, 3>
  %sum = tile.dot %columns, %rows, %start : memref<64x16xbf16, strided<[64, 1], offset: 4>, 3>, memref<16x64xbf16, strided<[64, 1], offset: 1024>, 3>, tensor<64x64xf32>
  tile.store %sum, %out : tensor<64x64xf32>, memref<64x64xf32>
  return
}
