// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-assign-layouts --verify-semantics | FileCheck %s

// Warps hold different rows of a product's result: a row of it goes through shared memory.
// CHECK-LABEL: func.func @f
// CHECK: %[[BUFFER:.*]] = tile.alloc : memref<64x64xf32, 3>
// CHECK: tile.store %{{.*}}, %[[BUFFER]]
// CHECK: memref.subview %[[BUFFER]][40, 0] [1, 64] [1, 1]
// CHECK: tile.load
// CHECK-NOT: tile.slice
func.func @f(%a: memref<64x64xbf16>, %b: memref<64x64xbf16>, %out: memref<64xf32>)
    attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  %zeros = tile.splat %zero : f32 -> tensor<64x64xf32>
  %ta = tile.load %a : memref<64x64xbf16> -> tensor<64x64xbf16>
  %tb = tile.load %b : memref<64x64xbf16> -> tensor<64x64xbf16>
  %d = tile.dot %ta, %tb, %zeros : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  %row = tile.slice %d at 40 along 0 : tensor<64x64xf32> -> tensor<64xf32>
  tile.store %row, %out : tensor<64xf32>, memref<64xf32>
  return
}

// Several of them share one copy, which is made in front of the first, outside of loops that others are in.
// CHECK-LABEL: func.func @several
// CHECK: tile.dot
// CHECK: %[[BUFFER:.*]] = tile.alloc : memref<64x64xf32, 3>
// CHECK: tile.store %{{.*}}, %[[BUFFER]]
// CHECK-NOT: tile.store
// CHECK: scf.for
// CHECK-NOT: tile.store
// CHECK: memref.subview %[[BUFFER]][40, 0] [1, 64] [1, 1]
// CHECK-NOT: tile.store
// CHECK: memref.subview %[[BUFFER]][3, 0] [1, 64] [1, 1]
// CHECK: scf.yield
// CHECK-NOT: tile.store
// CHECK: memref.subview %[[BUFFER]][17, 0] [1, 64] [1, 1]
// CHECK-NOT: tile.slice
func.func @several(%a: memref<64x64xbf16>, %b: memref<64x64xbf16>, %out: memref<64xf32>)
    attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %zeros = tile.splat %zero : f32 -> tensor<64x64xf32>
  %none = tile.splat %zero : f32 -> tensor<64xf32>
  %ta = tile.load %a : memref<64x64xbf16> -> tensor<64x64xbf16>
  %tb = tile.load %b : memref<64x64xbf16> -> tensor<64x64xbf16>
  %d = tile.dot %ta, %tb, %zeros : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %none) -> (tensor<64xf32>) {
    %row = tile.slice %d at 40 along 0 : tensor<64x64xf32> -> tensor<64xf32>
    %other = tile.slice %d at 3 along 0 : tensor<64x64xf32> -> tensor<64xf32>
    %more = arith.addf %s, %row : tensor<64xf32>
    %next = arith.subf %more, %other : tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  %last = tile.slice %d at 17 along 0 : tensor<64x64xf32> -> tensor<64xf32>
  %all = arith.addf %sum, %last : tensor<64xf32>
  tile.store %all, %out : tensor<64xf32>, memref<64xf32>
  return
}
