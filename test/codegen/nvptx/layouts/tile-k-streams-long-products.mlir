// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-tile-k --nvptx-assign-layouts --nvptx-stage-operands --nvptx-pipeline-copies --verify-semantics | FileCheck %s

// 64 rows and columns of 1000 steps would take 250 KiB: 64 steps at a time, copied an iteration ahead into a ring of two slots,
// and the last 40 behind the loop.
// CHECK-LABEL: @long
// CHECK: tile.alloc : memref<2x64x64xbf16
// CHECK: scf.for {{.*}} -> (tensor<64x64xf32
// CHECK: tile.copy_async
// CHECK: tile.dot {{.*}} memref<64x64xbf16{{.*}}memref<64x64xbf16
// CHECK: scf.yield
// CHECK: tile.dot {{.*}} memref<64x48xbf16{{.*}}memref<48x64xbf16
// CHECK-NOT: tile.dot
func.func @long(%a: memref<64x1000xbf16>, %b: memref<1000x64xbf16>, %out: memref<64x64xbf16>)
    attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  %start = tile.splat %zero : f32 -> tensor<64x64xf32>
  %at = tile.load %a : memref<64x1000xbf16> -> tensor<64x1000xbf16>
  %bt = tile.load %b : memref<1000x64xbf16> -> tensor<1000x64xbf16>
  %c = tile.dot %at, %bt, %start : tensor<64x1000xbf16>, tensor<1000x64xbf16>, tensor<64x64xf32>
  %n = arith.truncf %c : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %n, %out : tensor<64x64xbf16>, memref<64x64xbf16>
  return
}

// An operand that is made here is copied once, where that fits, and read in parts; arithmetic on inputs is done on parts.
// CHECK-LABEL: @made
// CHECK: tile.reduce
// CHECK: %[[COPY:.*]] = tile.alloc : memref<16x1024xf32
// CHECK: scf.for
// CHECK: arith.mulf {{.*}} : tensor<{{(16|32|64|128)}}x64xf32
// CHECK: tile.dot
func.func @made(%a: memref<16x1024xf32>, %b: memref<1024x64xf32>, %out: memref<16x64xf32>)
    attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  %start = tile.splat %zero : f32 -> tensor<16x64xf32>
  %at = tile.load %a : memref<16x1024xf32> -> tensor<16x1024xf32>
  %sums = tile.reduce add %at along [0] : tensor<16x1024xf32> -> tensor<1024xf32>
  %rows = tile.broadcast %sums along [1] : tensor<1024xf32> -> tensor<16x1024xf32>
  %less = arith.subf %at, %rows : tensor<16x1024xf32>
  %bt = tile.load %b : memref<1024x64xf32> -> tensor<1024x64xf32>
  %square = arith.mulf %bt, %bt : tensor<1024x64xf32>
  %c = tile.dot %less, %square, %start : tensor<16x1024xf32>, tensor<1024x64xf32>, tensor<16x64xf32>
  tile.store %c, %out : tensor<16x64xf32>, memref<16x64xf32>
  return
}
