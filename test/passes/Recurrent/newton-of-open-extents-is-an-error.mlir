// RUN: drawloom-opt %s --linrec-expand-scans --verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @open(%s: tensor<2x3xf32>, %x: tensor<2x?x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{is solved for all tokens at once, whose number a call chooses; leave 'newton' out, or compile it for known extents}}
  %f, %r:2 = linrec.nonlinear_scan initial(%s : tensor<2x3xf32>) inputs(%x : tensor<2x?x3xf32>) finals(tensor<2x3xf32>) report(tensor<f32>, tensor<f32>) attributes {newton = 3} {
  ^bb0(%a: f32, %b: f32):
    linrec.yield %b : f32
  }
  return %f : tensor<2x3xf32>
}
