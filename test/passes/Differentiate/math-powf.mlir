// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%a: f32, %b: f32) -> f32 {
  %y = math.powf %a, %b : f32
  return %y : f32
}

func.func @df(%a: f32, %b: f32, %g: f32) -> (f32, f32) {
  %y, %da, %db = ad.vjp @f(%a, %b) cotangents(%g) wrt [0, 1]
      : (f32, f32) -> (f32, f32, f32)
  return %da, %db : f32, f32
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: f32, %[[ARG1:.+]]: f32, %[[ARG2:.+]]: f32) -> (f32, f32)
// CHECK: %[[V0:.+]] = arith.constant -1.000000e+00 : f32
// CHECK: %[[V1:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[V2:.+]] = math.powf %[[ARG0]], %[[ARG1]] : f32
// CHECK: %[[V3:.+]] = arith.addf %[[ARG1]], %[[V0]] : f32
// CHECK: %[[V4:.+]] = math.powf %[[ARG0]], %[[V3]] : f32
// CHECK: %[[V5:.+]] = arith.cmpf oeq, %[[ARG1]], %[[V1]] : f32
// CHECK: %[[V6:.+]] = arith.mulf %[[ARG1]], %[[V4]] : f32
// CHECK: %[[V7:.+]] = arith.mulf %[[ARG2]], %[[V6]] : f32
// CHECK: %[[V8:.+]] = arith.select %[[V5]], %[[V1]], %[[V7]] : f32
// CHECK: %[[V9:.+]] = arith.cmpf oeq, %[[ARG0]], %[[V1]] : f32
// CHECK: %[[V10:.+]] = arith.cmpf oge, %[[ARG1]], %[[V1]] : f32
// CHECK: %[[V11:.+]] = arith.andi %[[V9]], %[[V10]] : i1
// CHECK: %[[V12:.+]] = math.log %[[ARG0]] : f32
// CHECK: %[[V13:.+]] = arith.mulf %[[V2]], %[[V12]] : f32
// CHECK: %[[V14:.+]] = arith.mulf %[[ARG2]], %[[V13]] : f32
// CHECK: %[[V15:.+]] = arith.select %[[V11]], %[[V1]], %[[V14]] : f32
// CHECK: return %[[V8]], %[[V15]] : f32, f32
