// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: f32) -> f32 {
  %y = math.round %x : f32
  return %y : f32
}

func.func @df(%x: f32, %g: f32) -> f32 {
  %y, %dx = ad.vjp @f(%x) cotangents(%g) wrt [0]
      : (f32) -> (f32, f32)
  return %dx : f32
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: f32, %[[ARG1:.+]]: f32) -> f32
// CHECK: %[[V0:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: return %[[V0]] : f32
