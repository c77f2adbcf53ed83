// RUN: drawloom-opt %s --differentiate -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: f32) -> f32 {
  // expected-error @+1 {{'@f' is recursive and cannot be differentiated; write the repetition as scf.for}}
  %y, %dx = ad.value_and_grad @f(%x) wrt [0] : (f32) -> (f32, f32)
  return %dx : f32
}
