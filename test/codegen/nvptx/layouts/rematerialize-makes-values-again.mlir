// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-rematerialize --verify-semantics | FileCheck %s

// What waits for the second product would not fit into registers: it is made again behind it, from the 16 bits of the
// first product's result.

// CHECK: tile.dot
// CHECK: math.exp
// CHECK: arith.divf
// CHECK: tile.dot
// CHECK: math.exp
// CHECK: arith.divf
// CHECK-NOT: math.exp
func.func @f(%x: memref<1024x64xbf16>, %w: memref<64x64xbf16>, %y: memref<1024x64xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 128 : index
  %end = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %sums = tile.splat %zero : f32 -> tensor<128x64xf32>
  %zeros = tile.splat %zero : f32 -> tensor<64xf32>
  scf.for %i = %c0 to %end step %step {
    %xv = memref.subview %x[%i, 0] [128, 64] [1, 1] : memref<1024x64xbf16> to memref<128x64xbf16, strided<[64, 1], offset: ?>>
    %yv = memref.subview %y[%i, 0] [128, 64] [1, 1] : memref<1024x64xf32> to memref<128x64xf32, strided<[64, 1], offset: ?>>
    %xt = tile.load %xv : memref<128x64xbf16, strided<[64, 1], offset: ?>> -> tensor<128x64xbf16>
    %wt = tile.load %w : memref<64x64xbf16> -> tensor<64x64xbf16>
    %z = tile.dot %xt, %wt, %sums : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %z16 = arith.truncf %z : tensor<128x64xf32> to tensor<128x64xbf16>
    %z32 = arith.extf %z16 : tensor<128x64xbf16> to tensor<128x64xf32>
    %p = math.exp %z32 : tensor<128x64xf32>
    %q = math.absf %z32 : tensor<128x64xf32>
    %h = arith.divf %p, %q : tensor<128x64xf32>
    %h16 = arith.truncf %h : tensor<128x64xf32> to tensor<128x64xbf16>
    %d = tile.dot %h16, %wt, %sums : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    %e = arith.mulf %d, %p : tensor<128x64xf32>
    %g = arith.mulf %e, %q : tensor<128x64xf32>
    %k = arith.mulf %g, %h : tensor<128x64xf32>
    tile.store %k, %yv : tensor<128x64xf32>, memref<128x64xf32, strided<[64, 1], offset: ?>>
  }
  return
}
