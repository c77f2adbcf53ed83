// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-apply-schedule --verify-semantics | FileCheck %s

// A tile of few rows waits in registers: nothing is made twice, and nothing but operands goes through shared memory.

// CHECK: math.exp
// CHECK: tile.dot
// CHECK-NOT: math.exp
// CHECK-NOT: tile.load %{{.*}} : memref<16x64xf32
func.func @f(%x: memref<1024x64xbf16>, %w: memref<64x64xbf16>, %y: memref<1024x64xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 16 : index
  %end = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %sums = tile.splat %zero : f32 -> tensor<16x64xf32>
  %zeros = tile.splat %zero : f32 -> tensor<64xf32>
  scf.for %i = %c0 to %end step %step {
    %xv = memref.subview %x[%i, 0] [16, 64] [1, 1] : memref<1024x64xbf16> to memref<16x64xbf16, strided<[64, 1], offset: ?>>
    %yv = memref.subview %y[%i, 0] [16, 64] [1, 1] : memref<1024x64xf32> to memref<16x64xf32, strided<[64, 1], offset: ?>>
    %xt = tile.load %xv : memref<16x64xbf16, strided<[64, 1], offset: ?>> -> tensor<16x64xbf16>
    %wt = tile.load %w : memref<64x64xbf16> -> tensor<64x64xbf16>
    %z = tile.dot %xt, %wt, %sums : tensor<16x64xbf16>, tensor<64x64xbf16>, tensor<16x64xf32>
    %z16 = arith.truncf %z : tensor<16x64xf32> to tensor<16x64xbf16>
    %z32 = arith.extf %z16 : tensor<16x64xbf16> to tensor<16x64xf32>
    %p = math.exp %z32 : tensor<16x64xf32>
    %q = math.absf %z32 : tensor<16x64xf32>
    %h = arith.divf %p, %q : tensor<16x64xf32>
    %h16 = arith.truncf %h : tensor<16x64xf32> to tensor<16x64xbf16>
    %d = tile.dot %h16, %wt, %sums : tensor<16x64xbf16>, tensor<64x64xbf16>, tensor<16x64xf32>
    %e = arith.mulf %d, %p : tensor<16x64xf32>
    %g = arith.mulf %e, %q : tensor<16x64xf32>
    %k = arith.mulf %g, %h : tensor<16x64xf32>
    tile.store %k, %yv : tensor<16x64xf32>, memref<16x64xf32, strided<[64, 1], offset: ?>>
  }
  return
}
