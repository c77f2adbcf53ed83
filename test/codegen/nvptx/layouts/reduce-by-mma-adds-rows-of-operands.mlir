// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-reduce-by-mma --verify-semantics | FileCheck %s

// The sum of the rows that a product multiplies is a product with ones, carried as sixteen equal rows.
// CHECK: scf.for {{.*}} -> (tensor<64x64xf32>, tensor<16x64xf32>)
// CHECK: tile.splat %{{.*}} : bf16 -> tensor<16x16xbf16
// CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} {drawloom.rows_alike} : tensor<16x16xbf16>, tensor<16x64xbf16>, tensor<16x64xf32>
// CHECK-NOT: tile.reduce add
// CHECK: tile.reduce max %{{.*}} along [0] : tensor<16x64xf32
func.func @f(%h: memref<64x64xbf16>, %dz: memref<64x64xbf16>, %dw: memref<64x64xf32>, %db: memref<64xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %w = tile.splat %zero : f32 -> tensor<64x64xf32>
  %b = tile.splat %zero : f32 -> tensor<64xf32>
  %r:2 = scf.for %i = %c0 to %c64 step %c16 iter_args(%wi = %w, %bi = %b) -> (tensor<64x64xf32>, tensor<64xf32>) {
    %hv = memref.subview %h[%i, 0] [16, 64] [1, 1] : memref<64x64xbf16> to memref<16x64xbf16, strided<[64, 1], offset: ?>>
    %dv = memref.subview %dz[%i, 0] [16, 64] [1, 1] : memref<64x64xbf16> to memref<16x64xbf16, strided<[64, 1], offset: ?>>
    %ht = tile.load %hv : memref<16x64xbf16, strided<[64, 1], offset: ?>> -> tensor<16x64xbf16>
    %dt = tile.load %dv : memref<16x64xbf16, strided<[64, 1], offset: ?>> -> tensor<16x64xbf16>
    %wn = tile.dot %ht transpose_a, %dt, %wi : tensor<16x64xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
    %wide = arith.extf %dt : tensor<16x64xbf16> to tensor<16x64xf32>
    %s = tile.reduce add %wide along [0] : tensor<16x64xf32> -> tensor<64xf32>
    %bn = arith.addf %bi, %s : tensor<64xf32>
    scf.yield %wn, %bn : tensor<64x64xf32>, tensor<64xf32>
  }
  tile.store %r#0, %dw : tensor<64x64xf32>, memref<64x64xf32>
  tile.store %r#1, %db : tensor<64xf32>, memref<64xf32>
  return
}
