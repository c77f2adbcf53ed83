// RUN: drawloom-opt %s --nvptx-assign-layouts --nvptx-defer-reductions --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The sum of maxima is not the maximum of sums.
// CHECK: scf.for
// CHECK: tile.reduce max
// CHECK: scf.yield
func.func @f(%x: memref<16x256xf32>, %out: memref<16xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %z = arith.constant 0.0 : f32
  %i = tile.splat %z : f32 -> tensor<16xf32>
  %s = scf.for %j = %c0 to %c256 step %c64 iter_args(%acc = %i) -> (tensor<16xf32>) {
    %v = memref.subview %x[0, %j] [16, 64] [1, 1] : memref<16x256xf32> to memref<16x64xf32, strided<[256, 1], offset: ?>>
    %t = tile.load %v : memref<16x64xf32, strided<[256, 1], offset: ?>> -> tensor<16x64xf32>
    %m = tile.reduce max %t along [1] : tensor<16x64xf32> -> tensor<16xf32>
    %a = arith.addf %acc, %m : tensor<16xf32>
    scf.yield %a : tensor<16xf32>
  }
  tile.store %s, %out : tensor<16xf32>, memref<16xf32>
  return
}
