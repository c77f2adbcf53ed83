// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-expand-conversions --verify-semantics | FileCheck %s

// Threads that hold other elements afterwards exchange them through a buffer; a reduction across warps gets one for its shares.
// CHECK-LABEL: @exchange
// CHECK: %[[T:.*]] = tile.load %arg0
// CHECK: %[[BUFFER:.*]] = tile.alloc : memref<4x32xf32, strided<[36, 1]>, 3>
// CHECK: tile.store %[[T]], %[[BUFFER]]
// CHECK: %[[U:.*]] = tile.load %[[BUFFER]]
// CHECK-NOT: tile.convert
// CHECK: %[[SCRATCH:.*]] = tile.alloc : memref<4x32xf32, 3>
// CHECK: tile.reduce add %[[U]] along [0] {{.*}}%[[SCRATCH]]
#rows = #tile.layout<registers = [0:1*4], lanes = [1:1, 1:2, 1:4, 1:8, 1:16], warps = [?, ?]>
#spread = #tile.layout<registers = [], lanes = [1:1, 1:2, 1:4, 1:8, 1:16], warps = [0:1, 0:2]>
#sums = #tile.layout<registers = [], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = [?, ?]>
func.func @exchange(%x: memref<4x32xf32>, %y: memref<32xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64, drawloom.warps = 4 : i64} {
  %t = tile.load %x : memref<4x32xf32> -> tensor<4x32xf32, #rows>
  %u = tile.convert %t : tensor<4x32xf32, #rows> -> tensor<4x32xf32, #spread>
  %s = tile.reduce add %u along [0] : tensor<4x32xf32, #spread> -> tensor<32xf32, #sums>
  tile.store %s, %y : tensor<32xf32, #sums>, memref<32xf32>
  return
}

// Where each thread keeps its elements, only registers are renamed: no memory.
// CHECK-LABEL: @rename
// CHECK-NOT: tile.alloc
// CHECK: tile.convert
#pairs = #tile.layout<registers = [0:1, 0:2], lanes = [1:1, 1:2, 1:4, 1:8, 1:16], warps = []>
#other = #tile.layout<registers = [0:2, 0:1], lanes = [1:1, 1:2, 1:4, 1:8, 1:16], warps = []>
func.func @rename(%x: memref<4x32xf32>, %y: memref<4x32xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64, drawloom.warps = 1 : i64} {
  %t = tile.load %x : memref<4x32xf32> -> tensor<4x32xf32, #pairs>
  %u = tile.convert %t : tensor<4x32xf32, #pairs> -> tensor<4x32xf32, #other>
  tile.store %u, %y : tensor<4x32xf32, #other>, memref<4x32xf32>
  return
}
