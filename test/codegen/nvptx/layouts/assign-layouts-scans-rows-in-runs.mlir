// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-assign-layouts --verify-semantics | FileCheck %s

// Four runs of eight rows, counted by the upper two bits of the lane; what is scanned is loaded as it is needed.
// CHECK: tile.load {{.*}} -> tensor<32x64xf32, #tile.layout<registers = [1:1, 0:1*8], lanes = [1:2, 1:4, 1:8, 0:8, 0:16], warps = [1:16, 1:32]>>
// CHECK-NOT: tile.alloc
// CHECK: tile.scan
func.func @f(%x: memref<32x64xf32>, %out: memref<32x64xf32>)
    attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64} {
  %t = tile.load %x : memref<32x64xf32> -> tensor<32x64xf32>
  %sums = tile.scan add %t along 0 : tensor<32x64xf32> -> tensor<32x64xf32>
  tile.store %sums, %out : tensor<32x64xf32>, memref<32x64xf32>
  return
}
