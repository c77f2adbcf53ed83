// RUN: drawloom-opt %s --differentiate -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expected-error @+1 {{cannot be differentiated: '@f' branches between blocks; use scf.if and scf.for}}
func.func private @f(%x: f32, %c: i1) -> f32 {
  cf.cond_br %c, ^bb1(%x : f32), ^bb2
^bb1(%y: f32):
  return %y : f32
^bb2:
  return %x : f32
}

func.func @df(%x: f32, %c: i1, %g: f32) -> f32 {
  // expected-note @+1 {{while differentiating '@f'}}
  %y, %dx = ad.vjp @f(%x, %c) cotangents(%g) wrt [0] : (f32, i1) -> (f32, f32)
  return %dx : f32
}
