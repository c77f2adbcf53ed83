// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower --verify-semantics | FileCheck %s

// With `afn`, an exponential is a product and ex2, a quotient rcp and a product.
// CHECK: %[[POWER:.*]] = llvm.fmul %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[POWER]])
// CHECK-NEXT: %[[INVERSE:.*]] = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
// CHECK-NEXT: llvm.fmul %{{.*}}, %[[INVERSE]]
// CHECK-NOT: llvm.select
// CHECK: llvm.return
#line = #tile.layout<registers = [], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = []>
func.func @f(%x: memref<32xf32>, %out: memref<32xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %t = tile.load %x : memref<32xf32> -> tensor<32xf32, #line>
  %e = math.exp %t fastmath<afn> : tensor<32xf32, #line>
  %q = arith.divf %t, %e fastmath<afn> : tensor<32xf32, #line>
  tile.store %q, %out : tensor<32xf32, #line>, memref<32xf32>
  return
}
