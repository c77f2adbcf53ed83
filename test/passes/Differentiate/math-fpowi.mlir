// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: f32, %n: i32) -> f32 {
  %y = math.fpowi %x, %n : f32, i32
  return %y : f32
}

func.func @df(%x: f32, %n: i32, %g: f32) -> f32 {
  %y, %dx = ad.vjp @f(%x, %n) cotangents(%g) wrt [0]
      : (f32, i32) -> (f32, f32)
  return %dx : f32
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: f32, %[[ARG1:.+]]: i32, %[[ARG2:.+]]: f32) -> f32
// CHECK: %[[V0:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[V1:.+]] = arith.constant 1 : i32
// CHECK: %[[V2:.+]] = arith.constant 0 : i32
// CHECK: %[[V3:.+]] = arith.subi %[[ARG1]], %[[V1]] : i32
// CHECK: %[[V4:.+]] = math.fpowi %[[ARG0]], %[[V3]] : f32, i32
// CHECK: %[[V5:.+]] = arith.sitofp %[[ARG1]] : i32 to f32
// CHECK: %[[V6:.+]] = arith.cmpi eq, %[[ARG1]], %[[V2]] : i32
// CHECK: %[[V7:.+]] = arith.mulf %[[V5]], %[[V4]] : f32
// CHECK: %[[V8:.+]] = arith.mulf %[[ARG2]], %[[V7]] : f32
// CHECK: %[[V9:.+]] = arith.select %[[V6]], %[[V0]], %[[V8]] : f32
// CHECK: return %[[V9]] : f32
