// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// On a bound the gradient stays with the value.

func.func private @f(%x: f32, %lo: f32, %hi: f32) -> f32 {
  %y = math.clampf %x to [%lo, %hi] : f32
  return %y : f32
}

func.func @df(%x: f32, %lo: f32, %hi: f32, %g: f32) -> (f32, f32, f32) {
  %y, %dx, %dlo, %dhi = ad.vjp @f(%x, %lo, %hi) cotangents(%g) wrt [0, 1, 2]
      : (f32, f32, f32) -> (f32, f32, f32, f32)
  return %dx, %dlo, %dhi : f32, f32, f32
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: f32, %[[ARG1:.+]]: f32, %[[ARG2:.+]]: f32, %[[ARG3:.+]]: f32) -> (f32, f32, f32)
// CHECK: %[[V0:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[V1:.+]] = arith.cmpf olt, %[[ARG0]], %[[ARG1]] : f32
// CHECK: %[[V2:.+]] = arith.maximumf %[[ARG0]], %[[ARG1]] : f32
// CHECK: %[[V3:.+]] = arith.cmpf olt, %[[ARG2]], %[[V2]] : f32
// CHECK: %[[V4:.+]] = arith.select %[[V1]], %[[V0]], %[[ARG3]] : f32
// CHECK: %[[V5:.+]] = arith.select %[[V3]], %[[V0]], %[[V4]] : f32
// CHECK: %[[V6:.+]] = arith.select %[[V1]], %[[ARG3]], %[[V0]] : f32
// CHECK: %[[V7:.+]] = arith.select %[[V3]], %[[V0]], %[[V6]] : f32
// CHECK: %[[V8:.+]] = arith.select %[[V3]], %[[ARG3]], %[[V0]] : f32
// CHECK: return %[[V5]], %[[V7]], %[[V8]] : f32, f32, f32
