// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-assign-layouts --nvptx-defer-reductions --verify-semantics | FileCheck %s

// Each iteration stores the sum so far: all threads' shares must be in it.
// CHECK-LABEL: func.func @stores
// CHECK: scf.for
// CHECK-NOT: within
// CHECK: %[[TERM:.*]] = tile.reduce add
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %[[TERM]]
// CHECK: tile.store %[[SUM]]
// CHECK: scf.yield %[[SUM]]
func.func @stores(%x: memref<16x256xf32>, %out: memref<4x16xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %z = arith.constant 0.0 : f32
  %i = tile.splat %z : f32 -> tensor<16xf32>
  %s = scf.for %j = %c0 to %c4 step %c1 iter_args(%acc = %i) -> (tensor<16xf32>) {
    %column = arith.muli %j, %c64 : index
    %v = memref.subview %x[0, %column] [16, 64] [1, 1] : memref<16x256xf32> to memref<16x64xf32, strided<[256, 1], offset: ?>>
    %t = tile.load %v : memref<16x64xf32, strided<[256, 1], offset: ?>> -> tensor<16x64xf32>
    %m = tile.reduce add %t along [1] : tensor<16x64xf32> -> tensor<16xf32>
    %a = arith.addf %acc, %m : tensor<16xf32>
    %row = memref.subview %out[%j, 0] [1, 16] [1, 1] : memref<4x16xf32> to memref<16xf32, strided<[1], offset: ?>>
    tile.store %a, %row : tensor<16xf32>, memref<16xf32, strided<[1], offset: ?>>
    scf.yield %a : tensor<16xf32>
  }
  return
}
