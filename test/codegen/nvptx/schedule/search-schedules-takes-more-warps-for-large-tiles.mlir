// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-search-schedules --verify-semantics | FileCheck %s

// 256 registers of each thread of four warps are too many: eight share the tile, and no bits change.
// CHECK-LABEL: @elements
// CHECK-SAME: drawloom.warps = 8
func.func @elements(%x: memref<512x64xf32>, %out: memref<512x64xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64} {
  %a = tile.load %x : memref<512x64xf32> -> tensor<512x64xf32>
  tile.barrier
  tile.store %a, %out : tensor<512x64xf32>, memref<512x64xf32>
  return
}

// So they do where rows are added up, each warp those that it has.
// CHECK-LABEL: @sums
// CHECK-SAME: drawloom.warps = 8
func.func @sums(%x: memref<512x64xf32>, %out: memref<512x64xf32>, %sum: memref<64xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64} {
  %a = tile.load %x : memref<512x64xf32> -> tensor<512x64xf32>
  tile.barrier
  %b = tile.reduce add %a along [0] : tensor<512x64xf32> -> tensor<64xf32>
  tile.store %a, %out : tensor<512x64xf32>, memref<512x64xf32>
  tile.store %b, %sum : tensor<64xf32>, memref<64xf32>
  return
}
