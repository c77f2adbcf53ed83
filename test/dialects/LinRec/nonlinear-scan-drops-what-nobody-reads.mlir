// RUN: drawloom-opt %s --canonicalize --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The second state, its input, the output and the parameter.
// CHECK-LABEL: @dropped
// CHECK-SAME: (%[[S:[^:]*]]: tensor<2x3xf64>, %{{.*}}: tensor<2x3xf64>, %[[X:[^:]*]]: tensor<2x4x3xf64>,
// CHECK-NEXT: %[[F:.*]] = linrec.nonlinear_scan initial(%[[S]] : tensor<2x3xf64>) inputs(%[[X]] : tensor<2x4x3xf64>) finals(tensor<2x3xf64>) {
// CHECK-NEXT: ^bb0(%[[H:.*]]: f64, %[[C:.*]]: f64):
// CHECK-NEXT: %[[N:.*]] = arith.addf %[[H]], %[[C]]
// CHECK-NEXT: linrec.yield %[[N]] : f64
// CHECK: return %[[F]]
func.func @dropped(%s: tensor<2x3xf64>, %r: tensor<2x3xf64>, %x: tensor<2x4x3xf64>, %z: tensor<2x4x3xf64>, %w: tensor<3xf64>) -> tensor<2x3xf64> {
  %y, %f:2 = linrec.nonlinear_scan initial(%s, %r : tensor<2x3xf64>, tensor<2x3xf64>) inputs(%x, %z : tensor<2x4x3xf64>, tensor<2x4x3xf64>) parameters(%w : tensor<3xf64>)
      outputs(tensor<2x4x3xf64>) finals(tensor<2x3xf64>, tensor<2x3xf64>) {
  ^bb0(%h: f64, %g: f64, %c: f64, %d: f64, %v: f64):
    %n = arith.addf %h, %c : f64
    %m = math.fma %g, %d, %h : f64
    %o = arith.mulf %m, %v : f64
    linrec.yield %n, %m, %o : f64, f64, f64
  }
  return %f#0 : tensor<2x3xf64>
}

// One input stays to say how many tokens there are.
// CHECK-LABEL: @tokens
// CHECK: linrec.nonlinear_scan initial(%{{.*}}) inputs(%{{.*}} : tensor<2x4x3xf64>) finals
func.func @tokens(%s: tensor<2x3xf64>, %x: tensor<2x4x3xf64>, %z: tensor<2x4x3xf64>) -> tensor<2x3xf64> {
  %f = linrec.nonlinear_scan initial(%s : tensor<2x3xf64>) inputs(%x, %z : tensor<2x4x3xf64>, tensor<2x4x3xf64>) finals(tensor<2x3xf64>) {
  ^bb0(%h: f64, %c: f64, %d: f64):
    %n = arith.addf %h, %h : f64
    linrec.yield %n : f64
  }
  return %f : tensor<2x3xf64>
}

// What is the same everywhere is no input, and 0 is not added, not even twice.
// CHECK-LABEL: @constants
// CHECK: linrec.nonlinear_scan initial(%{{.*}}) inputs(%arg1 : tensor<2x4x3xf64>) finals
// CHECK-NEXT: ^bb0(%[[H:.*]]: f64, %[[C:.*]]: f64):
// CHECK-NEXT: %[[TWO:.*]] = arith.constant 2.0
// CHECK-NEXT: %[[N:.*]] = math.fma %[[H]], %[[TWO]], %[[C]]
// CHECK-NEXT: linrec.yield %[[N]]
func.func @constants(%s: tensor<2x3xf64>, %x: tensor<2x4x3xf64>) -> tensor<2x3xf64> {
  %zero = arith.constant dense<0.0> : tensor<2x4x3xf64>
  %two = arith.constant dense<2.0> : tensor<3xf64>
  %f = linrec.nonlinear_scan initial(%s : tensor<2x3xf64>) inputs(%x, %zero : tensor<2x4x3xf64>, tensor<2x4x3xf64>) parameters(%two : tensor<3xf64>) finals(tensor<2x3xf64>) {
  ^bb0(%h: f64, %c: f64, %z: f64, %w: f64):
    %none = arith.addf %z, %z : f64
    %n = math.fma %h, %w, %c : f64
    %m = arith.addf %n, %none : f64
    %o = arith.addf %m, %z : f64
    linrec.yield %o : f64
  }
  return %f : tensor<2x3xf64>
}

// Without inputs, an output says it, and what that needs stays, too.
// CHECK-LABEL: @output_says_tokens
// CHECK: linrec.nonlinear_scan initial(%{{.*}}) parameters(%{{.*}} : tensor<3xf64>) outputs(tensor<2x4x3xf64>) finals
func.func @output_says_tokens(%s: tensor<2x3xf64>, %w: tensor<3xf64>) -> tensor<2x3xf64> {
  %y, %f = linrec.nonlinear_scan initial(%s : tensor<2x3xf64>) parameters(%w : tensor<3xf64>) outputs(tensor<2x4x3xf64>) finals(tensor<2x3xf64>) {
  ^bb0(%a: f64, %b: f64):
    %n = arith.addf %a, %a : f64
    linrec.yield %n, %b : f64, f64
  }
  return %f : tensor<2x3xf64>
}

// Only the input knows what a call chooses.
// CHECK-LABEL: @open
// CHECK: linrec.nonlinear_scan initial(%{{.*}}) inputs(%{{.*}} : tensor<?x?x3xf64>) outputs(tensor<?x?x3xf64>) finals
func.func @open(%s: tensor<?x3xf64>, %x: tensor<?x?x3xf64>) -> tensor<?x?x3xf64> {
  %y, %f = linrec.nonlinear_scan initial(%s : tensor<?x3xf64>) inputs(%x : tensor<?x?x3xf64>) outputs(tensor<?x?x3xf64>) finals(tensor<?x3xf64>) {
  ^bb0(%a: f64, %b: f64):
    %n = arith.addf %a, %a : f64
    linrec.yield %n, %n : f64, f64
  }
  return %y : tensor<?x?x3xf64>
}
