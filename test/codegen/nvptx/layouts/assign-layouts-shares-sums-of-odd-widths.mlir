// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-assign-layouts --nvptx-stage-operands --verify-semantics | FileCheck %s

// Of 24 x 24 sums, eight by eight are lanes and warps: no lane of the first two warps holds what another one has, as it would with four neighbours to a thread.
// CHECK: tile.dot {{.*}} tensor<24x24xf32, #tile.layout<registers = [1:8*3, 0:8*3], lanes = [1:1, 1:2, 1:4, 0:1, 0:2], warps = [0:4, ?]>>
func.func @f(%x: memref<64x24xf32>, %d: memref<64x24xf32>, %out: memref<24x24xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  %zeros = tile.splat %zero : f32 -> tensor<24x24xf32>
  %a = tile.load %x : memref<64x24xf32> -> tensor<64x24xf32>
  %b = tile.load %d : memref<64x24xf32> -> tensor<64x24xf32>
  %s = tile.dot %a transpose_a, %b, %zeros : tensor<64x24xf32>, tensor<64x24xf32>, tensor<24x24xf32>
  tile.store %s, %out : tensor<24x24xf32>, memref<24x24xf32>
  return
}
