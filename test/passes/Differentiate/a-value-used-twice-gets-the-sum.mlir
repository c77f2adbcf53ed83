// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: f32) -> (f32, f32) {
  %a = math.sin %x : f32
  %b = math.exp %x : f32
  return %a, %b : f32, f32
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[X:.+]]: f32, %[[GA:.+]]: f32, %[[GB:.+]]: f32)
// CHECK-DAG: %[[B:.+]] = math.exp %[[X]]
// CHECK-DAG: %[[DB:.+]] = arith.mulf %[[GB]], %[[B]]
// CHECK-DAG: %[[C:.+]] = math.cos %[[X]]
// CHECK: %[[D:.+]] = math.fma %[[GA]], %[[C]], %[[DB]]
// CHECK: return %[[D]]
func.func @df(%x: f32, %ga: f32, %gb: f32) -> f32 {
  %a, %b, %dx = ad.vjp @f(%x) cotangents(%ga, %gb) wrt [0] : (f32) -> (f32, f32, f32)
  return %dx : f32
}
