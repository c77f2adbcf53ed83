// RUN: drawloom-opt %s --differentiate | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%q: tensor<1x2x1x3xf64>, %v: tensor<1x2x1x1xf64>) -> tensor<1x1x3x1xf64> {
  %o, %final = linrec.scan %q, %q, %v
      : (tensor<1x2x1x3xf64>, tensor<1x2x1x3xf64>, tensor<1x2x1x1xf64>) -> (tensor<1x2x1x1xf64>, tensor<1x1x3x1xf64>)
  return %final : tensor<1x1x3x1xf64>
}

// CHECK-LABEL: func.func @gradient
// CHECK-SAME: %[[Q:.+]]: tensor<1x2x1x3xf64>, %[[V:.+]]: tensor<1x2x1x1xf64>, %[[G:.+]]: tensor<1x1x3x1xf64>
func.func @gradient(%q: tensor<1x2x1x3xf64>, %v: tensor<1x2x1x1xf64>, %g: tensor<1x1x3x1xf64>) -> tensor<1x2x1x1xf64> {
  // CHECK: %[[ZERO:.+]] = linalg.fill ins(%{{.*}} : f64) outs(%{{.*}} : tensor<1x2x1x1xf64>)
  // CHECK: %[[D:.+]]:3 = linrec.scan_bwd %[[Q]], %[[Q]], %[[V]] cotangents(%[[ZERO]], %[[G]]) :
  // CHECK: return %[[D]]#2
  %r:2 = ad.vjp @f(%q, %v) cotangents(%g) wrt [1]
      : (tensor<1x2x1x3xf64>, tensor<1x2x1x1xf64>) -> (tensor<1x1x3x1xf64>, tensor<1x2x1x1xf64>)
  return %r#1 : tensor<1x2x1x1xf64>
}
