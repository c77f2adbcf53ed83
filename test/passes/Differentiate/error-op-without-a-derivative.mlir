// RUN: drawloom-opt %s --differentiate -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: f32) -> f32 {
  // expected-error @+1 {{cannot be differentiated: 'scf.while' implements neither DifferentiableOpInterface nor AggregatedOpInterface}}
  %y = scf.while (%a = %x) : (f32) -> f32 {
    %c = arith.cmpf olt, %a, %a : f32
    scf.condition(%c) %a : f32
  } do {
  ^bb0(%b: f32):
    scf.yield %b : f32
  }
  return %y : f32
}

func.func @df(%x: f32, %g: f32) -> f32 {
  // expected-note @+1 {{while differentiating '@f'}}
  %y, %dx = ad.vjp @f(%x) cotangents(%g) wrt [0] : (f32) -> (f32, f32)
  return %dx : f32
}
