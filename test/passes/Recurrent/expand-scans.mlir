// RUN: drawloom-opt %s --linrec-expand-scans --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Seven tokens are two segments of three and one token more. What a segment
// does to the state is a factor and a sum, which go through the segments.
// CHECK-LABEL: @segments
// CHECK-SAME: (%[[S:.*]]: tensor<2x3xf64>, %[[A:.*]]: tensor<2x7x3xf64>, %[[X:.*]]: tensor<2x7x3xf64>)
// CHECK: %[[MOVE:.*]]:2 = linrec.nonlinear_scan initial(%{{.*}} : tensor<4x3xf64>, tensor<4x3xf64>) inputs(%{{.*}} : tensor<4x3x3xf64>, tensor<4x3x3xf64>)
// CHECK-SAME: finals(tensor<4x3xf64>, tensor<4x3xf64>)
// CHECK: %[[FIRST:.*]], %{{.*}} = linrec.nonlinear_scan initial(%[[S]] : tensor<2x3xf64>) inputs(%{{.*}} : tensor<2x2x3xf64>, tensor<2x2x3xf64>) outputs(tensor<2x2x3xf64>)
// CHECK: %[[BEFORE:.*]] = tensor.collapse_shape %[[FIRST]]
// CHECK: linrec.nonlinear_scan initial(%[[BEFORE]] : tensor<4x3xf64>) inputs(%{{.*}} : tensor<4x3x3xf64>, tensor<4x3x3xf64>) outputs(tensor<4x3x3xf64>)
// CHECK: linrec.nonlinear_scan initial(%{{.*}} : tensor<2x3xf64>) inputs(%{{.*}} : tensor<2x1x3xf64>, tensor<2x1x3xf64>)
// CHECK-NOT: segments
func.func @segments(%s: tensor<2x3xf64>, %a: tensor<2x7x3xf64>, %x: tensor<2x7x3xf64>) -> (tensor<2x7x3xf64>, tensor<2x3xf64>) {
  %y, %f = linrec.nonlinear_scan initial(%s : tensor<2x3xf64>) inputs(%a, %x : tensor<2x7x3xf64>, tensor<2x7x3xf64>) outputs(tensor<2x7x3xf64>) finals(tensor<2x3xf64>) attributes {segments = 2} {
  ^bb0(%h: f64, %b: f64, %c: f64):
    %n = math.fma %b, %h, %c : f64
    linrec.yield %n, %n : f64, f64
  }
  return %y, %f : tensor<2x7x3xf64>, tensor<2x3xf64>
}

// The other direction, two states that mix, and an output that is none of them.
// CHECK-LABEL: @mixing
// CHECK-COUNT-4: linrec.nonlinear_scan reverse
// CHECK-NOT: segments
func.func @mixing(%s: tensor<2x3xf64>, %r: tensor<2x3xf64>, %a: tensor<2x7x3xf64>, %x: tensor<2x7x3xf64>, %w: tensor<3xf64>) -> (tensor<2x7x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>) {
  %y, %f:2 = linrec.nonlinear_scan reverse initial(%s, %r : tensor<2x3xf64>, tensor<2x3xf64>) inputs(%a, %x : tensor<2x7x3xf64>, tensor<2x7x3xf64>) parameters(%w : tensor<3xf64>)
      outputs(tensor<2x7x3xf64>) finals(tensor<2x3xf64>, tensor<2x3xf64>) attributes {segments = 3} {
  ^bb0(%h: f64, %g: f64, %b: f64, %c: f64, %v: f64):
    %p = math.fma %b, %g, %h : f64
    %q = math.fma %v, %h, %c : f64
    %o = arith.mulf %p, %q : f64
    linrec.yield %p, %q, %o : f64, f64, f64
  }
  return %y, %f#0, %f#1 : tensor<2x7x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>
}

// The loop of Newton's iteration, and the way out.
// CHECK-LABEL: @newton
// CHECK: %[[LOOP:.*]]:3 = scf.for
// CHECK: scf.if
// CHECK: linrec.nonlinear_scan
// CHECK: %{{.*}}:2 = linalg.generic
// CHECK: linrec.nonlinear_scan
// CHECK: linrec.nonlinear_scan initial({{.*}}) inputs(%[[LOOP]]#0
// CHECK: linalg.generic
// CHECK: %[[GOOD:.*]] = arith.cmpf ole
// CHECK: scf.if %[[GOOD]]
// CHECK: } else {
// CHECK-NEXT: linrec.nonlinear_scan
// CHECK-NOT: newton =
func.func @newton(%s: tensor<2x3xf64>, %x: tensor<2x7x3xf64>) -> (tensor<2x7x3xf64>, tensor<2x3xf64>) {
  %y, %f, %r:2 = linrec.nonlinear_scan initial(%s : tensor<2x3xf64>) inputs(%x : tensor<2x7x3xf64>) outputs(tensor<2x7x3xf64>) finals(tensor<2x3xf64>) report(tensor<f64>, tensor<f64>)
      attributes {newton = 20} {
  ^bb0(%h: f64, %c: f64):
    %n = arith.addf %h, %c : f64
    %t = math.tanh %n : f64
    linrec.yield %t, %t : f64, f64
  }
  return %y, %f : tensor<2x7x3xf64>, tensor<2x3xf64>
}
