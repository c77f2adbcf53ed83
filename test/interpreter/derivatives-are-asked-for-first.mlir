// RUN: drawloom-opt %s --interpret-checks -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: f32) -> f32 {
  %y = arith.mulf %x, %x : f32
  return %y : f32
}

func.func @main() {
  %x = arith.constant 2.0 : f32
  // expected-error @+1 {{'ad.value_and_grad' op is not supported by the interpreter; it asks for derivatives, which --differentiate writes out}}
  %y, %dx = ad.value_and_grad @f(%x) wrt [0] : (f32) -> (f32, f32)
  return
}
