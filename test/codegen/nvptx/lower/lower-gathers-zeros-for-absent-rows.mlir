// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower --verify-semantics | FileCheck %s

#rows = #tile.layout<registers = [0:4*2], lanes = [?, ?, ?, 0:1, 0:2], warps = []>
#tile = #tile.layout<registers = [0:4*2], lanes = [1:1, 1:2, 1:4, 0:1, 0:2], warps = []>
// Where the index is negative nothing is read: there is a load on one side of a
// branch only, and zero on the other.
// CHECK: %[[INDEX:.*]] = llvm.icmp "sge" %{{.*}}, %{{.*}} : i64
// CHECK: llvm.cond_br %[[INDEX]], ^[[READ:bb[0-9]+]], ^[[ZERO:bb[0-9]+]]
// CHECK: ^[[READ]]:
// CHECK: %[[ROW:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> f32
// CHECK-NEXT: llvm.br ^[[BEHIND:bb[0-9]+]](%[[ROW]] : f32)
// CHECK: ^[[ZERO]]:
// CHECK-NEXT: llvm.br ^[[BEHIND]](%{{.*}} : f32)
func.func @f(%x: memref<9x8xf32>, %i: memref<8xi32>, %out: memref<8x8xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %at = tile.load %i : memref<8xi32> -> tensor<8xi32, #rows>
  %t = tile.gather %x[%at] : memref<9x8xf32>[tensor<8xi32, #rows>] -> tensor<8x8xf32, #tile>
  tile.store %t, %out : tensor<8x8xf32, #tile>, memref<8x8xf32>
  return
}
