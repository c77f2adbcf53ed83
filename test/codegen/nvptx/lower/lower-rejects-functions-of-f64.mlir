// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower-math -verify-diagnostics

func.func @f(%x: f64) -> f64 {
  // expected-error @+1 {{'math.erf' op of 'f64' has no code on a GPU: write it by functions that have, in f32, or compute the function on the CPU}}
  %y = math.erf %x : f64
  return %y : f64
}
