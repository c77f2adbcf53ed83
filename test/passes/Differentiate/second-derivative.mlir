// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// d2/dx2 of x^3 is 6x, here 3x + 3x.

func.func private @cube(%x: f32) -> f32 {
  %a = arith.mulf %x, %x : f32
  %y = arith.mulf %a, %x : f32
  return %y : f32
}
func.func private @slope(%x: f32) -> f32 {
  %y, %d = ad.value_and_grad @cube(%x) wrt [0] : (f32) -> (f32, f32)
  return %d : f32
}

// CHECK-LABEL: func.func @curvature
// CHECK-SAME: (%[[X:.+]]: f32)
// CHECK-NOT: ad.
// CHECK: %[[THREE:.+]] = arith.constant 3.0
// CHECK: %[[A:.+]] = arith.mulf %[[X]], %[[THREE]]
// CHECK: %[[B:.+]] = arith.addf %[[A]], %[[A]]
// CHECK: return %[[B]]
func.func @curvature(%x: f32) -> f32 {
  %y, %d = ad.value_and_grad @slope(%x) wrt [0] : (f32) -> (f32, f32)
  return %d : f32
}
