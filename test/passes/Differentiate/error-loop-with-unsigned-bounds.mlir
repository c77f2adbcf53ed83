// RUN: drawloom-opt %s --differentiate -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{cannot be differentiated: 'scf.for' with unsigned bounds is not supported; use signed ones}}
  %y = scf.for unsigned %i = %c0 to %n step %c1 iter_args(%h = %x) -> f32 {
    %a = arith.mulf %h, %h : f32
    scf.yield %a : f32
  }
  return %y : f32
}

func.func @df(%x: f32, %n: index, %g: f32) -> f32 {
  // expected-note @+1 {{while differentiating '@f'}}
  %y, %dx = ad.vjp @f(%x, %n) cotangents(%g) wrt [0] : (f32, index) -> (f32, f32)
  return %dx : f32
}
