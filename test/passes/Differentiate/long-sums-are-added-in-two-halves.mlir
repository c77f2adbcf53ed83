// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// x has six uses, so its gradient has six terms. The two halves of their sum do
// not wait for each other.

func.func private @f(%x: f32, %w: f32) -> (f32, f32, f32, f32, f32, f32) {
  %a = arith.mulf %x, %w : f32
  %b = math.sin %x : f32
  %c = math.exp %x : f32
  %d = math.cos %x : f32
  %e = math.tanh %x : f32
  %f = math.log %x : f32
  return %a, %b, %c, %d, %e, %f : f32, f32, f32, f32, f32, f32
}

// CHECK-LABEL: func.func @df
// CHECK: %[[A:.*]] = math.fma
// CHECK: %[[FIRST:.*]] = arith.addf %[[A]], %{{.*}}
// CHECK: %[[B:.*]] = math.fma
// CHECK-NOT: %[[FIRST]]
// CHECK: %[[SECOND:.*]] = math.fma %{{.*}}, %{{.*}}, %[[B]]
// CHECK: %[[SUM:.*]] = arith.addf %[[FIRST]], %[[SECOND]]
// CHECK: return %[[SUM]]
func.func @df(%x: f32, %w: f32, %g0: f32, %g1: f32, %g2: f32, %g3: f32, %g4: f32, %g5: f32) -> f32 {
  %r:7 = ad.vjp @f(%x, %w) cotangents(%g0, %g1, %g2, %g3, %g4, %g5) wrt [0]
    : (f32, f32) -> (f32, f32, f32, f32, f32, f32, f32)
  return %r#6 : f32
}
