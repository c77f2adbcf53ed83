// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @square(%x: f32) -> f32 {
  %y = arith.mulf %x, %x : f32
  return %y : f32
}
func.func private @f(%x: f32) -> f32 {
  %y = func.call @square(%x) : (f32) -> f32
  %z = func.call @square(%y) : (f32) -> f32
  return %z : f32
}

// Private functions that nothing uses any more are erased.
// CHECK-NOT: @square
// CHECK-NOT: @f(
// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[X:.+]]: f32, %[[G:.+]]: f32)
// CHECK: %[[Y:.+]] = arith.mulf %[[X]], %[[X]]
// CHECK: %[[A:.+]] = arith.mulf %[[G]], %[[Y]]
// CHECK: %[[B:.+]] = arith.addf %[[A]], %[[A]]
// CHECK: %[[C:.+]] = arith.mulf %[[B]], %[[X]]
// CHECK: %[[D:.+]] = arith.addf %[[C]], %[[C]]
// CHECK: return %[[D]]
func.func @df(%x: f32, %g: f32) -> f32 {
  %y, %dx = ad.vjp @f(%x) cotangents(%g) wrt [0] : (f32) -> (f32, f32)
  return %dx : f32
}
