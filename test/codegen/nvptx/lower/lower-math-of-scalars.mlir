// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower-math | FileCheck %s

// What the flag `afn` permits is one instruction and a product.
// CHECK-LABEL: func @approximate
// CHECK: %[[POWER:.*]] = arith.mulf %arg0, %{{.*}} : f32
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[POWER]])
// CHECK-NOT: math.
// CHECK: return
func.func @approximate(%x: f32) -> f32 {
  %y = math.exp %x fastmath<afn> : f32
  return %y : f32
}

// Without it, the product's rounding error is made good, where the result is finite.
// CHECK-LABEL: func @exact
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK: math.fma
// CHECK: arith.select
// CHECK: return
func.func @exact(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

// A denominator of 1 and more that is not negative needs no scale.
// CHECK-LABEL: func @rational
// CHECK: %[[SIZE:.*]] = math.absf %arg0 : f32
// CHECK: %[[BELOW:.*]] = arith.addf %[[SIZE]], %{{.*}} : f32
// CHECK: %[[INVERSE:.*]] = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%[[BELOW]])
// CHECK: arith.mulf %arg0, %[[INVERSE]]
// CHECK-NOT: arith.select
// CHECK: return
func.func @rational(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %size = math.absf %x : f32
  %below = arith.addf %size, %one : f32
  %y = arith.divf %x, %below : f32
  return %y : f32
}

// Narrow numbers are computed in f32.
// CHECK-LABEL: func @narrow
// CHECK: %[[WIDE:.*]] = arith.extf %arg0 : bf16 to f32
// CHECK: %[[ROOT:.*]] = math.sqrt %[[WIDE]] : f32
// CHECK: arith.truncf %[[ROOT]] : f32 to bf16
func.func @narrow(%x: bf16) -> bf16 {
  %y = math.sqrt %x : bf16
  return %y : bf16
}
