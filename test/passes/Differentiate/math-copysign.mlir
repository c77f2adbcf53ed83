// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%a: f32, %b: f32) -> f32 {
  %y = math.copysign %a, %b : f32
  return %y : f32
}

func.func @df(%a: f32, %b: f32, %g: f32) -> f32 {
  %y, %da = ad.vjp @f(%a, %b) cotangents(%g) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %da : f32
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: f32, %[[ARG1:.+]]: f32, %[[ARG2:.+]]: f32) -> f32
// CHECK: %[[V0:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[V1:.+]] = math.copysign %[[V0]], %[[ARG0]] : f32
// CHECK: %[[V2:.+]] = math.copysign %[[V0]], %[[ARG1]] : f32
// CHECK: %[[V3:.+]] = arith.mulf %[[V1]], %[[V2]] : f32
// CHECK: %[[V4:.+]] = arith.mulf %[[ARG2]], %[[V3]] : f32
// CHECK: return %[[V4]] : f32
