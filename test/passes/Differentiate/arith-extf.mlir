// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%a: bf16) -> f32 {
  %y = arith.extf %a : bf16 to f32
  return %y : f32
}

func.func @df(%a: bf16, %g: f32) -> bf16 {
  %y, %da = ad.vjp @f(%a) cotangents(%g) wrt [0]
      : (bf16) -> (f32, bf16)
  return %da : bf16
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: bf16, %[[ARG1:.+]]: f32) -> bf16
// CHECK: %[[V0:.+]] = arith.truncf %[[ARG1]] : f32 to bf16
// CHECK: return %[[V0]] : bf16
