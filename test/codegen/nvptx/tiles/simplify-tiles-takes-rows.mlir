// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-simplify-tiles --verify-semantics | FileCheck %s

// A row of a tile that is at hand needs no copy of the tile; many rows do.
// CHECK-LABEL: func.func @f
// CHECK-NOT: tile.alloc
// CHECK: %[[ROW:.*]] = tile.slice %{{.*}} at 31 along 0 : tensor<32x64xf32> -> tensor<64xf32>
// CHECK: return %[[ROW]]
func.func @f(%x: tensor<32x64xf32>) -> tensor<64xf32> {
  %buffer = tile.alloc : memref<32x64xf32, 3>
  tile.store %x, %buffer : tensor<32x64xf32>, memref<32x64xf32, 3>
  %view = memref.subview %buffer[31, 0] [1, 64] [1, 1] : memref<32x64xf32, 3> to memref<64xf32, strided<[1], offset: 1984>, 3>
  %row = tile.load %view : memref<64xf32, strided<[1], offset: 1984>, 3> -> tensor<64xf32>
  return %row : tensor<64xf32>
}

// CHECK-LABEL: func.func @most
// CHECK: tile.store
// CHECK: tile.load
func.func @most(%x: tensor<4x64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %buffer = tile.alloc : memref<4x64xf32, 3>
  tile.store %x, %buffer : tensor<4x64xf32>, memref<4x64xf32, 3>
  %first = memref.subview %buffer[0, 0] [1, 64] [1, 1] : memref<4x64xf32, 3> to memref<64xf32, strided<[1]>, 3>
  %row0 = tile.load %first : memref<64xf32, strided<[1]>, 3> -> tensor<64xf32>
  %second = memref.subview %buffer[1, 0] [1, 64] [1, 1] : memref<4x64xf32, 3> to memref<64xf32, strided<[1], offset: 64>, 3>
  %row1 = tile.load %second : memref<64xf32, strided<[1], offset: 64>, 3> -> tensor<64xf32>
  return %row0, %row1 : tensor<64xf32>, tensor<64xf32>
}
