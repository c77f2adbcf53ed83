// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-allocate-shared --verify-semantics | FileCheck %s

#blocked = #tile.layout<registers = [], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = [0:32, 0:64]>

// A copy is there for its own thread when it has waited, for the others behind the next barrier. While it is under way nothing
// is to be seen of it, and a barrier in front of the wait helps nobody.
// CHECK-LABEL: @f
// CHECK: tile.copy_async
// CHECK-NEXT: tile.commit_copies
// CHECK-NEXT: tile.wait_copies 0
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.load
// The next copy overwrites what others may still read.
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.copy_async
func.func @f(%a: memref<128xf32>, %out: memref<128xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64, drawloom.warps = 4 : i64} {
  %buffer = tile.alloc : memref<128xf32, 3>
  tile.copy_async %a, %buffer by tensor<128xf32, #blocked> : memref<128xf32>, memref<128xf32, 3>
  tile.commit_copies
  tile.wait_copies 0
  %x = tile.load %buffer : memref<128xf32, 3> -> tensor<128xf32, #blocked>
  tile.copy_async %a, %buffer by tensor<128xf32, #blocked> : memref<128xf32>, memref<128xf32, 3>
  tile.commit_copies
  tile.wait_copies 0
  tile.store %x, %out : tensor<128xf32, #blocked>, memref<128xf32>
  return
}
