// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Of equal operands the second one gets the gradient; a NaN gets none.

func.func private @f(%a: f32, %b: f32) -> f32 {
  %y = arith.minnumf %a, %b : f32
  return %y : f32
}

func.func @df(%a: f32, %b: f32, %g: f32) -> (f32, f32) {
  %y, %da, %db = ad.vjp @f(%a, %b) cotangents(%g) wrt [0, 1]
      : (f32, f32) -> (f32, f32, f32)
  return %da, %db : f32, f32
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: f32, %[[ARG1:.+]]: f32, %[[ARG2:.+]]: f32) -> (f32, f32)
// CHECK: %[[V0:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[V1:.+]] = arith.cmpf olt, %[[ARG0]], %[[ARG1]] : f32
// CHECK: %[[V2:.+]] = arith.cmpf uno, %[[ARG1]], %[[ARG1]] : f32
// CHECK: %[[V3:.+]] = arith.ori %[[V1]], %[[V2]] : i1
// CHECK: %[[V4:.+]] = arith.select %[[V3]], %[[ARG2]], %[[V0]] : f32
// CHECK: %[[V5:.+]] = arith.select %[[V3]], %[[V0]], %[[ARG2]] : f32
// CHECK: return %[[V4]], %[[V5]] : f32, f32
