// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-assign-layouts --nvptx-stage-operands --nvptx-pipeline-copies --verify-semantics | FileCheck %s

// The rows of an iteration are copied while the one before it computes: two slots, the first filled in front of the loop.
// CHECK-LABEL: @f
// CHECK: %[[RING:.*]] = tile.alloc : memref<2x64x16xbf16
// CHECK: scf.if
// CHECK: memref.subview %[[RING]]
// CHECK: tile.copy_async
// CHECK: tile.commit_copies
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[SLOT:.*]] = %
// CHECK-NEXT: tile.wait_copies 0
// CHECK-NEXT: tile.barrier
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]]
// CHECK: %[[RUNS:.*]] = arith.cmpi slt, %[[NEXT]]
// CHECK: scf.if %[[RUNS]]
// CHECK: memref.subview %arg0[%[[NEXT]], 0]
// CHECK: tile.copy_async
// CHECK: tile.commit_copies
// CHECK: %[[NOW:.*]] = memref.subview %[[RING]][%[[SLOT]], 0, 0]
// CHECK: tile.dot %[[NOW]]
func.func @f(%a: memref<256x16xbf16>, %b: memref<16x64xbf16>, %out: memref<256x64xf32>)
    attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %start = tile.splat %zero : f32 -> tensor<64x64xf32>
  scf.for %i = %c0 to %c256 step %c64 {
    %part = memref.subview %a[%i, 0] [64, 16] [1, 1] : memref<256x16xbf16> to memref<64x16xbf16, strided<[16, 1], offset: ?>>
    %at = tile.load %part : memref<64x16xbf16, strided<[16, 1], offset: ?>> -> tensor<64x16xbf16>
    %bt = tile.load %b : memref<16x64xbf16> -> tensor<16x64xbf16>
    %sum = tile.dot %at, %bt, %start : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
    %to = memref.subview %out[%i, 0] [64, 64] [1, 1] : memref<256x64xf32> to memref<64x64xf32, strided<[64, 1], offset: ?>>
    tile.store %sum, %to : tensor<64x64xf32>, memref<64x64xf32, strided<[64, 1], offset: ?>>
  }
  return
}
