// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower --verify-semantics | FileCheck %s

#line = #tile.layout<registers = [], lanes = [0:1, 0:2, 0:4, ?, ?], warps = []>
// Four threads hold each element: the one whose bits 3 and 4 are zero stores it.
// CHECK-DAG: %[[MASK:.*]] = llvm.mlir.constant(24 : i32)
// CHECK-DAG: %[[ZERO:.*]] = llvm.mlir.constant(0 : i32)
// CHECK: %[[BITS:.*]] = llvm.and %{{.*}}, %[[MASK]]
// CHECK: %[[OWNER:.*]] = llvm.icmp "eq" %[[BITS]], %[[ZERO]]
// CHECK: llvm.cond_br %[[OWNER]]
func.func @f(%v: f32, %out: memref<8xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %t = tile.splat %v : f32 -> tensor<8xf32, #line>
  tile.store %t, %out : tensor<8xf32, #line>, memref<8xf32>
  return
}
