// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%a: f32, %b: f32) -> f32 {
  %y = math.atan2 %a, %b : f32
  return %y : f32
}

func.func @df(%a: f32, %b: f32, %g: f32) -> (f32, f32) {
  %y, %da, %db = ad.vjp @f(%a, %b) cotangents(%g) wrt [0, 1]
      : (f32, f32) -> (f32, f32, f32)
  return %da, %db : f32, f32
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: f32, %[[ARG1:.+]]: f32, %[[ARG2:.+]]: f32) -> (f32, f32)
// CHECK: %[[V0:.+]] = arith.mulf %[[ARG0]], %[[ARG0]] : f32
// CHECK: %[[V1:.+]] = arith.mulf %[[ARG1]], %[[ARG1]] : f32
// CHECK: %[[V2:.+]] = arith.addf %[[V0]], %[[V1]] : f32
// CHECK: %[[V3:.+]] = arith.divf %[[ARG2]], %[[V2]] : f32
// CHECK: %[[V4:.+]] = arith.mulf %[[V3]], %[[ARG1]] : f32
// CHECK: %[[V5:.+]] = arith.mulf %[[V3]], %[[ARG0]] : f32
// CHECK: %[[V6:.+]] = arith.negf %[[V5]] : f32
// CHECK: return %[[V4]], %[[V6]] : f32, f32
