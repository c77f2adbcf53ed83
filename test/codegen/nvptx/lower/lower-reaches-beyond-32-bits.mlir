// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower | FileCheck %s

#rows = #tile.layout<registers = [], lanes = [1:1, 1:2, 0:1, 0:2, 0:4], warps = [0:8, 0:16, 0:32]>
// Rows of 10^8 elements: the last thread's is 63 of them away, more than 32 bits count. Its row is multiplied in 64 bits,
// the column added to it.
// CHECK-LABEL: llvm.func @far
// CHECK-DAG: %[[STRIDE:.*]] = llvm.mlir.constant(100000000 : i64)
// CHECK-NOT: llvm.mul {{.*}} : i32
// CHECK: %[[ROW:.*]] = llvm.zext %{{.*}} : i32 to i64
// CHECK: %[[FAR:.*]] = llvm.mul %[[ROW]], %[[STRIDE]]{{.*}} : i64
// CHECK: %[[COLUMN:.*]] = llvm.zext %{{.*}} : i32 to i64
// CHECK: %[[SUM:.*]] = llvm.add %[[FAR]], %[[COLUMN]] : i64
// CHECK: llvm.getelementptr %{{.*}}[%[[SUM]]]
func.func @far(%v: f32, %out: memref<64x100000000xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 8 : i64} {
  %part = memref.subview %out[0, 0] [64, 4] [1, 1] : memref<64x100000000xf32> to memref<64x4xf32, strided<[100000000, 1]>>
  %t = tile.splat %v : f32 -> tensor<64x4xf32, #rows>
  tile.store %t, %part : tensor<64x4xf32, #rows>, memref<64x4xf32, strided<[100000000, 1]>>
  return
}
