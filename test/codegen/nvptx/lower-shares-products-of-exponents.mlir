// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower | FileCheck %s

// Exponentials of differences from one number share its product with log2 e: a fused multiply-add each.
// CHECK-LABEL: llvm.func @f
// CHECK: %[[SHARED:.*]] = llvm.fmul
// CHECK: %[[POWER:.*]] = llvm.intr.fma(%{{.*}}, %{{.*}}, %[[SHARED]])
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[POWER]])
// CHECK-COUNT-3: llvm.intr.fma(%{{.*}}, %{{.*}}, %[[SHARED]])
// CHECK-NOT: llvm.fsub
// CHECK: llvm.return
#line = #tile.layout<registers = [0:1*4], lanes = [0:4, 0:8, 0:16, 0:32, 0:64], warps = []>
func.func @f(%x: memref<128xf32>, %y: f32, %out: memref<128xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %t = tile.load %x : memref<128xf32> -> tensor<128xf32, #line>
  %same = tile.splat %y : f32 -> tensor<128xf32, #line>
  %d = arith.subf %t, %same : tensor<128xf32, #line>
  %e = math.exp %d fastmath<afn> : tensor<128xf32, #line>
  tile.store %e, %out : tensor<128xf32, #line>, memref<128xf32>
  return
}
