// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower --verify-semantics | FileCheck %s

// rcp.approx.ftz takes denormal numbers for zero, and gives zero for what is above 2^126.
// CHECK-DAG: %[[UP:.*]] = llvm.mlir.constant(0x4B800000 : f32)
// CHECK-DAG: %[[DOWN:.*]] = llvm.mlir.constant(2.500000e-01 : f32)
// CHECK: llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
// CHECK-NOT: llvm.fdiv
#line = #tile.layout<registers = [], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = []>
func.func @f(%x: memref<32xf32>, %out: memref<32xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %t = tile.load %x : memref<32xf32> -> tensor<32xf32, #line>
  %q = arith.divf %t, %t : tensor<32xf32, #line>
  tile.store %q, %out : tensor<32xf32, #line>, memref<32xf32>
  return
}
