// RUN: drawloom-opt %s --differentiate -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: f32) -> f32 {
  // expected-error @+1 {{'@f' is recursive and cannot be differentiated; write the repetition as scf.for}}
  %y = func.call @f(%x) : (f32) -> f32
  return %y : f32
}

func.func @df(%x: f32, %g: f32) -> f32 {
  %y, %dx = ad.vjp @f(%x) cotangents(%g) wrt [0] : (f32) -> (f32, f32)
  return %dx : f32
}
