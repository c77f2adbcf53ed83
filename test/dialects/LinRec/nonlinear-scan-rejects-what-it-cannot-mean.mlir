// RUN: drawloom-opt %s --split-input-file --verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @types(%s: tensor<2x3xf32>, %x: tensor<2x4x3xf64>) -> tensor<2x3xf32> {
  // expected-error @+1 {{has input 0 of type 'tensor<2x4x3xf64>', not one of 'f32' of shape [2, 4, 3]}}
  %f = linrec.nonlinear_scan initial(%s : tensor<2x3xf32>) inputs(%x : tensor<2x4x3xf64>) finals(tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    linrec.yield %b : f32
  }
  return %f : tensor<2x3xf32>
}

// -----

func.func @channels(%s: tensor<2x3xf32>, %x: tensor<2x4x5xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{has input 0 of type 'tensor<2x4x5xf32>', not one of 'f32' of shape [2, 4, 3]}}
  %f = linrec.nonlinear_scan initial(%s : tensor<2x3xf32>) inputs(%x : tensor<2x4x5xf32>) finals(tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    linrec.yield %b : f32
  }
  return %f : tensor<2x3xf32>
}

// -----

func.func @open_channels(%s: tensor<2x?xf32>, %x: tensor<2x4x?xf32>) -> tensor<2x?xf32> {
  // expected-error @+1 {{has states of type 'tensor<2x?xf32>'; they are [B, D] of f32 or f64, where D is static and at least 1}}
  %f = linrec.nonlinear_scan initial(%s : tensor<2x?xf32>) inputs(%x : tensor<2x4x?xf32>) finals(tensor<2x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linrec.yield %b : f32
  }
  return %f : tensor<2x?xf32>
}

// -----

func.func @no_tokens_said(%s: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{has neither inputs nor outputs, so that nothing says how many tokens there are}}
  %f = linrec.nonlinear_scan initial(%s : tensor<2x3xf32>) finals(tensor<2x3xf32>) {
  ^bb0(%a: f32):
    linrec.yield %a : f32
  }
  return %f : tensor<2x3xf32>
}

// -----

func.func @arguments(%s: tensor<2x3xf32>, %x: tensor<2x4x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{has a region of 1 arguments that yields 1 values; 1 states, 1 inputs and 0 parameters are 2 arguments, and 1 states and 0 outputs are 1 values}}
  %f = linrec.nonlinear_scan initial(%s : tensor<2x3xf32>) inputs(%x : tensor<2x4x3xf32>) finals(tensor<2x3xf32>) {
  ^bb0(%a: f32):
    linrec.yield %a : f32
  }
  return %f : tensor<2x3xf32>
}

// -----

func.func @effects(%s: tensor<2x3xf32>, %x: tensor<2x4x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{has 'cf.assert' in its region; a cell is of ops on scalars, without effects}}
  %f = linrec.nonlinear_scan initial(%s : tensor<2x3xf32>) inputs(%x : tensor<2x4x3xf32>) finals(tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf olt, %a, %b : f32
    cf.assert %c, "no"
    linrec.yield %a : f32
  }
  return %f : tensor<2x3xf32>
}

// -----

func.func @segments(%s: tensor<2x3xf32>, %x: tensor<2x4x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{is cut into segments, but its new states are no affine functions of the old ones; add 'newton', or leave out 'segments'}}
  %f = linrec.nonlinear_scan initial(%s : tensor<2x3xf32>) inputs(%x : tensor<2x4x3xf32>) finals(tensor<2x3xf32>) attributes {segments = 2} {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %a : f32
    linrec.yield %c : f32
  }
  return %f : tensor<2x3xf32>
}

// -----

func.func @no_segments(%s: tensor<2x3xf32>, %x: tensor<2x4x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{has 0 segments; at least 1}}
  %f = linrec.nonlinear_scan initial(%s : tensor<2x3xf32>) inputs(%x : tensor<2x4x3xf32>) finals(tensor<2x3xf32>) attributes {segments = 0} {
  ^bb0(%a: f32, %b: f32):
    linrec.yield %b : f32
  }
  return %f : tensor<2x3xf32>
}

// -----

func.func @tolerance(%s: tensor<2x3xf32>, %x: tensor<2x4x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{has a tolerance, but no 'newton' that it is for}}
  %f = linrec.nonlinear_scan initial(%s : tensor<2x3xf32>) inputs(%x : tensor<2x4x3xf32>) finals(tensor<2x3xf32>) attributes {tolerance = 1.0 : f64} {
  ^bb0(%a: f32, %b: f32):
    linrec.yield %b : f32
  }
  return %f : tensor<2x3xf32>
}

// -----

func.func @report(%s: tensor<2x3xf32>, %x: tensor<2x4x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{has a report that is not two of 'tensor<f32>'}}
  %f = linrec.nonlinear_scan initial(%s : tensor<2x3xf32>) inputs(%x : tensor<2x4x3xf32>) finals(tensor<2x3xf32>) attributes {newton = 3} {
  ^bb0(%a: f32, %b: f32):
    linrec.yield %b : f32
  }
  return %f : tensor<2x3xf32>
}

// -----

func.func @no_report(%s: tensor<2x3xf32>, %x: tensor<2x4x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{has a report, but no 'newton' that it is of}}
  %f, %r = linrec.nonlinear_scan initial(%s : tensor<2x3xf32>) inputs(%x : tensor<2x4x3xf32>) finals(tensor<2x3xf32>) report(tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    linrec.yield %b : f32
  }
  return %f : tensor<2x3xf32>
}

// -----

func.func @negative(%s: tensor<2x3xf32>, %x: tensor<2x4x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{has -5 steps of Newton's iteration; at least 1}}
  %f, %r:2 = linrec.nonlinear_scan initial(%s : tensor<2x3xf32>) inputs(%x : tensor<2x4x3xf32>) finals(tensor<2x3xf32>) report(tensor<f32>, tensor<f32>) attributes {newton = -5} {
  ^bb0(%a: f32, %b: f32):
    linrec.yield %b : f32
  }
  return %f : tensor<2x3xf32>
}

// -----

func.func @open_output(%s: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{has no inputs and an output of type 'tensor<2x?x3xf32>', so that nothing says how many tokens there are}}
  %y, %f = linrec.nonlinear_scan initial(%s : tensor<2x3xf32>) outputs(tensor<2x?x3xf32>) finals(tensor<2x3xf32>) {
  ^bb0(%a: f32):
    linrec.yield %a, %a : f32, f32
  }
  return %f : tensor<2x3xf32>
}
