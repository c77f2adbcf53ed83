// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower | FileCheck %s

// Row 13 is the sixth of the second run of eight: the lanes whose upper bits are 01 hold it.
// CHECK: %[[OWN:.*]] = llvm.and %{{.*}}, %{{.*}} : i32
// CHECK: %[[HOLDER:.*]] = llvm.or %{{.*}}, %{{.*}} : i32
// CHECK: nvvm.shfl.sync idx %{{.*}}, %{{.*}}, %[[HOLDER]]
// CHECK: nvvm.shfl.sync idx %{{.*}}, %{{.*}}, %[[HOLDER]]
// CHECK-NOT: nvvm.shfl.sync
#rows = #tile.layout<registers = [1:1, 0:1*8], lanes = [1:2, 1:4, 1:8, 0:8, 0:16], warps = []>
#row = #tile.layout<registers = [0:1], lanes = [0:2, 0:4, 0:8, ?, ?], warps = []>
func.func @f(%x: memref<32x16xf32>, %out: memref<16xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %t = tile.load %x : memref<32x16xf32> -> tensor<32x16xf32, #rows>
  %r = tile.slice %t at 13 along 0 : tensor<32x16xf32, #rows> -> tensor<16xf32, #row>
  tile.store %r, %out : tensor<16xf32, #row>, memref<16xf32>
  return
}
