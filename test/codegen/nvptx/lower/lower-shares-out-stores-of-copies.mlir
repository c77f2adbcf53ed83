// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower --verify-semantics | FileCheck %s

// Two halves of a warp hold the same elements, sixteen rows a thread: each stores eight of them, without a branch.
// CHECK-LABEL: llvm.func @f
// CHECK-NOT: llvm.cond_br
// CHECK-COUNT-8: llvm.select
// CHECK-NOT: llvm.cond_br
// CHECK-COUNT-8: llvm.store
// CHECK-NOT: llvm.store
// CHECK: llvm.return
#rows = #tile.layout<registers = [0:1*16], lanes = [1:1, 1:2, 1:4, 1:8, ?], warps = []>
func.func @f(%x: memref<16x16xf32>, %out: memref<16x16xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %t = tile.load %x : memref<16x16xf32> -> tensor<16x16xf32, #rows>
  tile.store %t, %out : tensor<16x16xf32, #rows>, memref<16x16xf32>
  return
}
