// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower --verify-semantics | FileCheck %s

#sum = #tile.layout<registers = [1:1, 0:8], lanes = [1:2, 1:4, 0:1, 0:2, 0:4], warps = []>
#left = #tile.layout<registers = [1:1, 0:8, 1:8], lanes = [1:2, 1:4, 0:1, 0:2, 0:4], warps = []>
#narrow = #tile.layout<registers = [1:1, 1:2], lanes = [1:4, 0:1, 0:2, 0:4, 0:8], warps = []>

// Of a product whose rows are alike the second eight rows start from zero, and what they come to is that of the first.
// CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0.000000e+00 : f32) : f32
// CHECK: %[[PRODUCT:.*]] = nvvm.mma.sync {{.*}} C[%{{.*}}, %{{.*}}, %[[ZERO]], %[[ZERO]]]
// CHECK: llvm.extractvalue %[[PRODUCT]][0]
// CHECK: llvm.extractvalue %[[PRODUCT]][1]
// CHECK-NOT: llvm.extractvalue %[[PRODUCT]]
func.func @f(%start: memref<8xf32>, %y: memref<16x8xbf16>, %out: memref<16x8xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64, drawloom.shared_bytes = 1024 : i64, drawloom.warps = 1 : i64} {
  %one = arith.constant 1.0 : bf16
  %a = tile.splat %one : bf16 -> tensor<16x16xbf16, #left>
  %b = tile.alloc at 512 : memref<16x8xbf16, 3>
  %yt = tile.load %y : memref<16x8xbf16> -> tensor<16x8xbf16, #narrow>
  tile.store %yt, %b : tensor<16x8xbf16, #narrow>, memref<16x8xbf16, 3>
  tile.barrier
  %row = tile.load %start : memref<8xf32> -> tensor<8xf32, #tile.layout<registers = [0:1], lanes = [0:2, 0:4, ?, ?, ?], warps = []>>
  %sums = tile.broadcast %row along [1] : tensor<8xf32, #tile.layout<registers = [0:1], lanes = [0:2, 0:4, ?, ?, ?], warps = []>> -> tensor<16x8xf32, #sum>
  %c = tile.dot %a, %b, %sums {drawloom.rows_alike} : tensor<16x16xbf16, #left>, memref<16x8xbf16, 3>, tensor<16x8xf32, #sum>
  tile.store %c, %out : tensor<16x8xf32, #sum>, memref<16x8xf32>
  return
}
