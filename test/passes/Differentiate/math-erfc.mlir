// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: f32) -> f32 {
  %y = math.erfc %x : f32
  return %y : f32
}

func.func @df(%x: f32, %g: f32) -> f32 {
  %y, %dx = ad.vjp @f(%x) cotangents(%g) wrt [0]
      : (f32) -> (f32, f32)
  return %dx : f32
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: f32, %[[ARG1:.+]]: f32) -> f32
// CHECK: %[[V0:.+]] = arith.constant -1.12837923 : f32
// CHECK: %[[V1:.+]] = arith.mulf %[[ARG0]], %[[ARG0]] : f32
// CHECK: %[[V2:.+]] = arith.negf %[[V1]] : f32
// CHECK: %[[V3:.+]] = math.exp %[[V2]] : f32
// CHECK: %[[V4:.+]] = arith.mulf %[[ARG1]], %[[V3]] : f32
// CHECK: %[[V5:.+]] = arith.mulf %[[V4]], %[[V0]] : f32
// CHECK: return %[[V5]] : f32
