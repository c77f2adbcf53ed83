// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// No op of the ad dialect is left, whatever the nesting.

func.func private @f(%x: f32) -> f32 {
  %y = math.sin %x : f32
  return %y : f32
}
func.func private @g(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %y, %d = ad.vjp @f(%x) cotangents(%one) wrt [0] : (f32) -> (f32, f32)
  %z = arith.mulf %y, %d : f32
  return %z : f32
}
func.func private @h(%x: f32) -> f32 {
  %y = func.call @g(%x) : (f32) -> f32
  return %y : f32
}

// CHECK-NOT: ad.
func.func @dh(%x: f32) -> (f32, f32) {
  %y, %d = ad.value_and_grad @h(%x) wrt [0] : (f32) -> (f32, f32)
  return %y, %d : f32, f32
}
