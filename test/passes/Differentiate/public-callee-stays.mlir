// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: func.func @f(
// CHECK-LABEL: func.func @df(
// CHECK-NOT: ad.vjp
func.func @f(%x: f32) -> f32 {
  %y = arith.mulf %x, %x : f32
  return %y : f32
}
func.func @df(%x: f32, %g: f32) -> f32 {
  %y, %dx = ad.vjp @f(%x) cotangents(%g) wrt [0] : (f32) -> (f32, f32)
  return %dx : f32
}
