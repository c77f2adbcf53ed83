// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-assign-layouts --nvptx-stage-operands --nvptx-stage-vectors --nvptx-hoist-staging --verify-semantics | FileCheck %s

// 64 numbers for each row of lanes would take 32 registers in each thread through the whole loop: they are widened once, in front
// of it, and read from shared memory.
// CHECK-LABEL: @f
// CHECK: %[[WIDE:.*]] = tile.load %arg1 {{.*}} -> tensor<128xbf16
// CHECK: %[[NUMBERS:.*]] = arith.extf %[[WIDE]]
// CHECK: tile.store %[[NUMBERS]], %[[BUFFER:[a-z0-9]*]] :
// CHECK: scf.for
// CHECK: tile.load %[[BUFFER]]
// CHECK-NOT: arith.extf
// CHECK: tile.dot
func.func @f(%b: memref<16x128xbf16>, %bias: memref<128xbf16>, %a: memref<256x16xbf16>, %out: memref<256x128xf32>)
    attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 3 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %bt = tile.load %b : memref<16x128xbf16> -> tensor<16x128xbf16>
  scf.for %i = %c0 to %c256 step %c64 {
    %v = tile.load %bias : memref<128xbf16> -> tensor<128xbf16>
    %rows = tile.broadcast %v along [1] : tensor<128xbf16> -> tensor<64x128xbf16>
    %start = arith.extf %rows : tensor<64x128xbf16> to tensor<64x128xf32>
    %part = memref.subview %a[%i, 0] [64, 16] [1, 1] : memref<256x16xbf16> to memref<64x16xbf16, strided<[16, 1], offset: ?>>
    %at = tile.load %part : memref<64x16xbf16, strided<[16, 1], offset: ?>> -> tensor<64x16xbf16>
    %sum = tile.dot %at, %bt, %start : tensor<64x16xbf16>, tensor<16x128xbf16>, tensor<64x128xf32>
    %to = memref.subview %out[%i, 0] [64, 128] [1, 1] : memref<256x128xf32> to memref<64x128xf32, strided<[128, 1], offset: ?>>
    tile.store %sum, %to : tensor<64x128xf32>, memref<64x128xf32, strided<[128, 1], offset: ?>>
  }
  return
}
