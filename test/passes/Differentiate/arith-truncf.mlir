// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%a: f32) -> bf16 {
  %y = arith.truncf %a : f32 to bf16
  return %y : bf16
}

func.func @df(%a: f32, %g: bf16) -> f32 {
  %y, %da = ad.vjp @f(%a) cotangents(%g) wrt [0]
      : (f32) -> (bf16, f32)
  return %da : f32
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: f32, %[[ARG1:.+]]: bf16) -> f32
// CHECK: %[[V0:.+]] = arith.extf %[[ARG1]] : bf16 to f32
// CHECK: return %[[V0]] : f32
