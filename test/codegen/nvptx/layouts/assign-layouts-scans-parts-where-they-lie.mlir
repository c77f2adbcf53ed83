// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-assign-layouts --nvptx-expand-conversions --verify-semantics | FileCheck %s

// Scans along 16 and along 8 of the same rows: a thread has all 16, loads them itself, and nothing goes through
// shared memory.
// CHECK-LABEL: @scans
// CHECK-NOT: tile.alloc
// CHECK-NOT: tile.convert
// CHECK: tile.load {{.*}} -> tensor<64x64xf32, #[[ROWS:.*]]>
// CHECK-NOT: tile.alloc
// CHECK: tile.scan
// CHECK-NOT: tile.alloc
// CHECK: tile.scan
// CHECK-NOT: tile.alloc
// CHECK: return
func.func @scans(%x: memref<64x64xf32>, %out: memref<64x64xf32>)
    attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64} {
  %t = tile.load %x : memref<64x64xf32> -> tensor<64x64xf32>
  %eight = tile.reshape %t : tensor<64x64xf32> -> tensor<8x8x64xf32>
  %short = tile.scan mul %eight along 1 : tensor<8x8x64xf32> -> tensor<8x8x64xf32>
  %shorts = tile.reshape %short : tensor<8x8x64xf32> -> tensor<64x64xf32>
  %sixteen = tile.reshape %t : tensor<64x64xf32> -> tensor<4x16x64xf32>
  %long = tile.scan mul exclusive reverse %sixteen along 1 : tensor<4x16x64xf32> -> tensor<4x16x64xf32>
  %longs = tile.reshape %long : tensor<4x16x64xf32> -> tensor<64x64xf32>
  %sum = arith.addf %shorts, %longs : tensor<64x64xf32>
  tile.store %sum, %out : tensor<64x64xf32>, memref<64x64xf32>
  return
}
