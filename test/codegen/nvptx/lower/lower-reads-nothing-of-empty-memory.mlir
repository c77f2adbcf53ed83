// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower --verify-semantics | FileCheck %s

#tile = #tile.layout<registers = [2:1, 2:8*5, 0:1*5], lanes = [2:2, 2:4, 1:1, ?, ?], warps = []>

// All that is read are borders; no address there is one of an element.
// CHECK-LABEL: llvm.func @f
// CHECK-NOT: llvm.load
// CHECK: llvm.store
// CHECK-NOT: llvm.load
func.func @f(%x: memref<0x0x32xf32>, %out: memref<5x2x33xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %unknown = memref.cast %x : memref<0x0x32xf32> to memref<?x?x?xf32>
  %borders = tile.load %unknown : memref<?x?x?xf32> -> tensor<5x2x33xf32, #tile>
  tile.store %borders, %out : tensor<5x2x33xf32, #tile>, memref<5x2x33xf32>
  return
}
