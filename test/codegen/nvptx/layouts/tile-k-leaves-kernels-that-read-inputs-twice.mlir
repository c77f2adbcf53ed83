// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-tile-k="max-bytes=4096 only-inputs" --verify-semantics | FileCheck %s

// A product that stands in no loop and multiplies inputs is cut without reading anything twice.
// CHECK-LABEL: @once
// CHECK: scf.for
// CHECK: tile.load
// CHECK: tile.dot
func.func @once(%a: memref<16x2048xf16>, %b: memref<2048x16xf16>, %c: memref<16x16xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> tensor<16x16xf32>
  %at = tile.load %a : memref<16x2048xf16> -> tensor<16x2048xf16>
  %bt = tile.load %b : memref<2048x16xf16> -> tensor<2048x16xf16>
  %d = tile.dot %at, %bt, %z : tensor<16x2048xf16>, tensor<2048x16xf16>, tensor<16x16xf32>
  tile.store %d, %c : tensor<16x16xf32>, memref<16x16xf32>
  return
}

// The second product multiplies what the first one made: everything stays whole, and could only be cut by copies.
// CHECK-LABEL: @chained
// CHECK-NOT: scf.for
func.func @chained(%a: memref<16x256xf16>, %b: memref<256x256xf16>, %c: memref<16x256xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> tensor<16x256xf32>
  %at = tile.load %a : memref<16x256xf16> -> tensor<16x256xf16>
  %bt = tile.load %b : memref<256x256xf16> -> tensor<256x256xf16>
  %d = tile.dot %at, %bt, %z : tensor<16x256xf16>, tensor<256x256xf16>, tensor<16x256xf32>
  %n = arith.truncf %d : tensor<16x256xf32> to tensor<16x256xf16>
  %e = tile.dot %n, %bt, %z : tensor<16x256xf16>, tensor<256x256xf16>, tensor<16x256xf32>
  tile.store %e, %c : tensor<16x256xf32>, memref<16x256xf32>
  return
}
