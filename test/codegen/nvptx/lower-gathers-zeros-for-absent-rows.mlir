// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower | FileCheck %s

#rows = #tile.layout<registers = [0:4*2], lanes = [?, ?, ?, 0:1, 0:2], warps = []>
#tile = #tile.layout<registers = [0:4*2], lanes = [1:1, 1:2, 1:4, 0:1, 0:2], warps = []>
// A negative index reads the table's start, which is there, and gives zero.
// CHECK: llvm.icmp "sge" %[[INDEX:.*]], %{{.*}} : i64
// CHECK: %[[AT:.*]] = llvm.select %[[THERE:.*]], %{{.*}}, %arg0 : i1, !llvm.ptr<1>
// CHECK: %[[READ:.*]] = llvm.load %[[AT]]
// CHECK: llvm.select %[[THERE]], %[[READ]], %{{.*}} : i1, f32
func.func @f(%x: memref<9x8xf32>, %i: memref<8xi32>, %out: memref<8x8xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %at = tile.load %i : memref<8xi32> -> tensor<8xi32, #rows>
  %t = tile.gather %x[%at] : memref<9x8xf32>[tensor<8xi32, #rows>] -> tensor<8x8xf32, #tile>
  tile.store %t, %out : tensor<8x8xf32, #tile>, memref<8x8xf32>
  return
}
