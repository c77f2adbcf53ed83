// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-assign-layouts --nvptx-stage-operands --verify-semantics | FileCheck %s

// What the next product reads as it is keeps the order of the instructions; only the last result gets another.
// CHECK-LABEL: @chain
// CHECK: %[[FIRST:.*]] = tile.dot
// CHECK-NOT: neighbours
// CHECK: %[[NARROW:.*]] = arith.truncf %[[FIRST]]
// CHECK: tile.dot %[[NARROW]], {{.*}} {neighbours = 4 : i64}
func.func @chain(%a: memref<64x64xbf16>, %b: memref<64x64xbf16>, %out: memref<64x64xbf16>, %sums: memref<64x64xf32>)
    attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  %start = tile.splat %zero : f32 -> tensor<64x64xf32>
  %at = tile.load %a : memref<64x64xbf16> -> tensor<64x64xbf16>
  %bt = tile.load %b : memref<64x64xbf16> -> tensor<64x64xbf16>
  %first = tile.dot %at, %bt, %start : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  %narrow = arith.truncf %first : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %narrow, %out : tensor<64x64xbf16>, memref<64x64xbf16>
  %second = tile.dot %narrow, %bt transpose_b, %start : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.store %second, %sums : tensor<64x64xf32>, memref<64x64xf32>
  return
}
