// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: bf16, %w: bf16) -> (bf16, bf16) {
  %a = arith.mulf %x, %w : bf16
  %b = arith.mulf %x, %a : bf16
  return %a, %b : bf16, bf16
}

// CHECK-LABEL: func.func @df
// CHECK-NOT: math.fma
// CHECK: arith.addf
// CHECK: return
func.func @df(%x: bf16, %w: bf16, %g: bf16, %h: bf16) -> bf16 {
  %a, %b, %dx = ad.vjp @f(%x, %w) cotangents(%g, %h) wrt [0] : (bf16, bf16) -> (bf16, bf16, bf16)
  return %dx : bf16
}
