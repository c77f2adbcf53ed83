// RUN: drawloom-opt %s --differentiate | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @loss(%x: f64) -> f64 {
  %y = arith.mulf %x, %x : f64
  return %y : f64
}

// CHECK-LABEL: func.func @caller
// CHECK-SAME: %[[X:.+]]: f64
// CHECK: %[[L:.+]] = arith.mulf %[[X]], %[[X]]
// CHECK: %[[D:.+]] = arith.addf %[[X]], %[[X]]
// CHECK: return %[[L]], %[[D]]
func.func @caller(%x: f64) -> (f64, f64) {
  %l, %dx = ad.value_and_grad @loss(%x) wrt [0] : (f64) -> (f64, f64)
  return %l, %dx : f64, f64
}
