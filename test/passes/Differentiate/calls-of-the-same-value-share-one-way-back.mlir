// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @wave(%x: f32) -> f32 {
  %y = math.sin %x : f32
  return %y : f32
}
func.func private @both(%x: f32) -> (f32, f32) {
  %y = func.call @wave(%x) : (f32) -> f32
  %w = func.call @wave(%x) : (f32) -> f32
  %z = math.exp %w : f32
  return %y, %z : f32, f32
}

// The sine has one cotangent, the sum of both, and the cosine is multiplied once.
// CHECK-LABEL: func.func @gradient
// CHECK-SAME: (%[[X:.+]]: f32, %[[G:.+]]: f32, %[[H:.+]]: f32)
// CHECK: %[[S:.+]] = math.fma %[[H]], %{{.+}}, %[[G]]
// CHECK-NEXT: %[[COS:.+]] = math.cos %[[X]]
// CHECK-NEXT: %[[D:.+]] = arith.mulf %[[S]], %[[COS]]
// CHECK-NEXT: return %[[D]]
func.func @gradient(%x: f32, %g: f32, %h: f32) -> f32 {
  %y, %z, %dx = ad.vjp @both(%x) cotangents(%g, %h) wrt [0] : (f32) -> (f32, f32, f32)
  return %dx : f32
}
