// RUN: drawloom-opt %s --differentiate -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: f32) -> f32 {
  // expected-error @+1 {{cannot be differentiated: 'arith.bitcast' reads the bits of a value that the result has to be differentiated for}}
  %i = arith.bitcast %x : f32 to i32
  %one = arith.constant 1 : i32
  %j = arith.addi %i, %one : i32
  %y = arith.bitcast %j : i32 to f32
  return %y : f32
}

func.func @df(%x: f32, %g: f32) -> f32 {
  // expected-note @+1 {{while differentiating '@f'}}
  %y, %dx = ad.vjp @f(%x) cotangents(%g) wrt [0] : (f32) -> (f32, f32)
  return %dx : f32
}
