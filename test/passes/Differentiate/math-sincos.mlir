// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: f32) -> (f32, f32) {
  %y0, %y1 = math.sincos %x : f32
  return %y0, %y1 : f32, f32
}

func.func @df(%x: f32, %g0: f32, %g1: f32) -> f32 {
  %y0, %y1, %dx = ad.vjp @f(%x) cotangents(%g0, %g1) wrt [0]
      : (f32) -> (f32, f32, f32)
  return %dx : f32
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: f32, %[[ARG1:.+]]: f32, %[[ARG2:.+]]: f32) -> f32
// CHECK: %[[V0:.+]], %[[V1:.+]] = math.sincos %[[ARG0]] : f32
// CHECK: %[[V2:.+]] = arith.mulf %[[ARG1]], %[[V1]] : f32
// CHECK: %[[V3:.+]] = arith.mulf %[[ARG2]], %[[V0]] : f32
// CHECK: %[[V4:.+]] = arith.negf %[[V3]] : f32
// CHECK: %[[V5:.+]] = arith.addf %[[V2]], %[[V4]] : f32
// CHECK: return %[[V5]] : f32
