// RUN: drawloom-opt %s --linrec-expand-scans=lockstep --verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @newton(%s: tensor<2x3xf32>, %x: tensor<2x4x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{is solved by Newton's iteration, a loop around kernels, which programs for GPUs do not have; leave 'newton' out}}
  %f, %r:2 = linrec.nonlinear_scan initial(%s : tensor<2x3xf32>) inputs(%x : tensor<2x4x3xf32>) finals(tensor<2x3xf32>) report(tensor<f32>, tensor<f32>) attributes {newton = 3} {
  ^bb0(%a: f32, %b: f32):
    linrec.yield %b : f32
  }
  return %f : tensor<2x3xf32>
}
