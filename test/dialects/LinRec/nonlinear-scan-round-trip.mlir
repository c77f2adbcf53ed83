// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: @all
// CHECK: linrec.nonlinear_scan reverse initial(%{{.*}}, %{{.*}} : tensor<2x4xf32>, tensor<2x4xf32>)
// CHECK-SAME: inputs(%{{.*}} : tensor<2x?x4xbf16>) parameters(%{{.*}} : tensor<4xf32>)
// CHECK-SAME: outputs(tensor<2x?x4xf16>) finals(tensor<2x4xf32>, tensor<2x4xf32>)
// CHECK-SAME: report(tensor<f32>, tensor<f32>) attributes {newton = 5 : i64, segments = 3 : i64, tolerance = 1.000000e-03 : f64} {
// CHECK-NEXT: ^bb0
// CHECK: linrec.yield %{{.*}}, %{{.*}}, %{{.*}} : f32, f32, f32
func.func @all(%s: tensor<2x4xf32>, %r: tensor<2x4xf32>, %x: tensor<2x?x4xbf16>, %w: tensor<4xf32>) -> (tensor<2x?x4xf16>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<f32>, tensor<f32>) {
  %y, %f:2, %n:2 = linrec.nonlinear_scan reverse initial(%s, %r : tensor<2x4xf32>, tensor<2x4xf32>) inputs(%x : tensor<2x?x4xbf16>) parameters(%w : tensor<4xf32>)
      outputs(tensor<2x?x4xf16>) finals(tensor<2x4xf32>, tensor<2x4xf32>) report(tensor<f32>, tensor<f32>) attributes {newton = 5, segments = 3, tolerance = 1.0e-3 : f64} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %e = math.fma %a, %d, %c : f32
    %g = math.tanh %b : f32
    linrec.yield %e, %g, %e : f32, f32, f32
  }
  return %y, %f#0, %f#1, %n#0, %n#1 : tensor<2x?x4xf16>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<f32>, tensor<f32>
}

// CHECK-LABEL: @least
// CHECK: linrec.nonlinear_scan initial(%{{.*}} : tensor<2x4xf64>) inputs(%{{.*}} : tensor<2x3x4xf64>) finals(tensor<2x4xf64>) {
func.func @least(%s: tensor<2x4xf64>, %x: tensor<2x3x4xf64>) -> tensor<2x4xf64> {
  %f = linrec.nonlinear_scan initial(%s : tensor<2x4xf64>) inputs(%x : tensor<2x3x4xf64>) finals(tensor<2x4xf64>) {
  ^bb0(%a: f64, %b: f64):
    %e = arith.addf %a, %b : f64
    linrec.yield %e : f64
  }
  return %f : tensor<2x4xf64>
}
