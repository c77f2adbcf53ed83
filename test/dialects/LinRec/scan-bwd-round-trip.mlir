// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: func.func @nothing
func.func @nothing(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %d_o: tensor<2x5x4x6xf32>) {
  // CHECK: linrec.scan_bwd %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} cotangents(%{{[^ ]+}})
  // CHECK-SAME: : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>)
  %0:3 = linrec.scan_bwd %q, %k, %v cotangents(%d_o)
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>)
  return
}

// CHECK-LABEL: func.func @constant
func.func @constant(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %decay: tensor<4xf32>, %d_o: tensor<2x5x4x6xf32>, %d_final: tensor<2x4x8x6xf32>) {
  // CHECK: linrec.scan_bwd %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} decay(%{{[^ ]+}}) cotangents(%{{[^ ]+}}, %{{[^ ]+}}) {scale = 1.000000e+00 : f64}
  // CHECK-SAME: : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<4xf32>, tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<4xf32>)
  %0:4 = linrec.scan_bwd %q, %k, %v decay(%decay) cotangents(%d_o, %d_final) {scale = 1.0}
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<4xf32>, tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<4xf32>)
  return
}

// CHECK-LABEL: func.func @scalar
func.func @scalar(%q: tensor<2x5x4x8xf16>, %k: tensor<2x5x4x8xf16>, %v: tensor<2x5x4x6xf16>, %decay: tensor<2x5x4xf16>, %d_o: tensor<2x5x4x6xf16>, %d_final: tensor<2x4x8x6xf32>) {
  // CHECK: linrec.scan_bwd %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} decay(%{{[^ ]+}}) cotangents(%{{[^ ]+}}, %{{[^ ]+}}) {decay_bound = -5.000000e+00 : f64}
  // CHECK-SAME: : (tensor<2x5x4x8xf16>, tensor<2x5x4x8xf16>, tensor<2x5x4x6xf16>, tensor<2x5x4xf16>, tensor<2x5x4x6xf16>, tensor<2x4x8x6xf32>) -> (tensor<2x5x4x8xf16>, tensor<2x5x4x8xf16>, tensor<2x5x4x6xf16>, tensor<2x5x4xf16>)
  %0:4 = linrec.scan_bwd %q, %k, %v decay(%decay) cotangents(%d_o, %d_final) {decay_bound = -5.0}
      : (tensor<2x5x4x8xf16>, tensor<2x5x4x8xf16>, tensor<2x5x4x6xf16>, tensor<2x5x4xf16>, tensor<2x5x4x6xf16>, tensor<2x4x8x6xf32>) -> (tensor<2x5x4x8xf16>, tensor<2x5x4x8xf16>, tensor<2x5x4x6xf16>, tensor<2x5x4xf16>)
  return
}

// CHECK-LABEL: func.func @keys
func.func @keys(%q: tensor<2x5x4x8xbf16>, %k: tensor<2x5x4x8xbf16>, %v: tensor<2x5x4x6xbf16>, %decay: tensor<2x5x4x8xbf16>, %initial: tensor<2x4x8x6xf32>, %d_o: tensor<2x5x4x6xbf16>, %d_final: tensor<2x4x8x6xf32>) {
  // CHECK: linrec.scan_bwd %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} decay(%{{[^ ]+}}) initial(%{{[^ ]+}}) cotangents(%{{[^ ]+}}, %{{[^ ]+}}) {chunk = 64 : i64}
  // CHECK-SAME: : (tensor<2x5x4x8xbf16>, tensor<2x5x4x8xbf16>, tensor<2x5x4x6xbf16>, tensor<2x5x4x8xbf16>, tensor<2x4x8x6xf32>, tensor<2x5x4x6xbf16>, tensor<2x4x8x6xf32>) -> (tensor<2x5x4x8xbf16>, tensor<2x5x4x8xbf16>, tensor<2x5x4x6xbf16>, tensor<2x5x4x8xbf16>, tensor<2x4x8x6xf32>)
  %0:5 = linrec.scan_bwd %q, %k, %v decay(%decay) initial(%initial) cotangents(%d_o, %d_final) {chunk = 64}
      : (tensor<2x5x4x8xbf16>, tensor<2x5x4x8xbf16>, tensor<2x5x4x6xbf16>, tensor<2x5x4x8xbf16>, tensor<2x4x8x6xf32>, tensor<2x5x4x6xbf16>, tensor<2x4x8x6xf32>) -> (tensor<2x5x4x8xbf16>, tensor<2x5x4x8xbf16>, tensor<2x5x4x6xbf16>, tensor<2x5x4x8xbf16>, tensor<2x4x8x6xf32>)
  return
}

// CHECK-LABEL: func.func @values
func.func @values(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %decay: tensor<2x5x4x6xf32>, %d_o: tensor<2x5x4x6xf32>, %d_final: tensor<2x4x8x6xf32>) {
  // CHECK: linrec.scan_bwd %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} decay(%{{[^ ]+}}) cotangents(%{{[^ ]+}}, %{{[^ ]+}}) {decay_along_values}
  // CHECK-SAME: : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>)
  %0:4 = linrec.scan_bwd %q, %k, %v decay(%decay) cotangents(%d_o, %d_final) {decay_along_values}
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>)
  return
}

// CHECK-LABEL: func.func @bonus
func.func @bonus(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %decay: tensor<2x5x4x8xf32>, %bonus: tensor<4x8xf32>, %d_o: tensor<2x5x4x6xf32>, %d_final: tensor<2x4x8x6xf32>) {
  // CHECK: linrec.scan_bwd %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} decay(%{{[^ ]+}}) bonus(%{{[^ ]+}}) cotangents(%{{[^ ]+}}, %{{[^ ]+}})
  // CHECK-SAME: : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x8xf32>, tensor<4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x8xf32>, tensor<4x8xf32>)
  %0:5 = linrec.scan_bwd %q, %k, %v decay(%decay) bonus(%bonus) cotangents(%d_o, %d_final)
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x8xf32>, tensor<4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x8xf32>, tensor<4x8xf32>)
  return
}

// CHECK-LABEL: func.func @beta
func.func @beta(%q: tensor<2x5x2x8xf32>, %k: tensor<2x5x1x8xf32>, %v: tensor<2x5x4x6xf32>, %decay: tensor<2x5x4xf32>, %beta: tensor<2x5x4xf32>, %d_o: tensor<2x5x4x6xf32>) {
  // CHECK: linrec.scan_bwd %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} decay(%{{[^ ]+}}) beta(%{{[^ ]+}}) cotangents(%{{[^ ]+}}) {erase_before_decay}
  // CHECK-SAME: : (tensor<2x5x2x8xf32>, tensor<2x5x1x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4xf32>, tensor<2x5x4xf32>, tensor<2x5x4x6xf32>) -> (tensor<2x5x2x8xf32>, tensor<2x5x1x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4xf32>, tensor<2x5x4xf32>)
  %0:5 = linrec.scan_bwd %q, %k, %v decay(%decay) beta(%beta) cotangents(%d_o) {erase_before_decay}
      : (tensor<2x5x2x8xf32>, tensor<2x5x1x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4xf32>, tensor<2x5x4xf32>, tensor<2x5x4x6xf32>) -> (tensor<2x5x2x8xf32>, tensor<2x5x1x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4xf32>, tensor<2x5x4xf32>)
  return
}

// CHECK-LABEL: func.func @erase
func.func @erase(%q: tensor<2x5x4x8xf64>, %k: tensor<2x5x4x8xf64>, %v: tensor<2x5x4x6xf64>, %erase: tensor<2x5x4x8xf64>, %d_o: tensor<2x5x4x6xf64>, %d_final: tensor<2x4x8x6xf64>) {
  // CHECK: linrec.scan_bwd %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} erase(%{{[^ ]+}}) cotangents(%{{[^ ]+}}, %{{[^ ]+}})
  // CHECK-SAME: : (tensor<2x5x4x8xf64>, tensor<2x5x4x8xf64>, tensor<2x5x4x6xf64>, tensor<2x5x4x8xf64>, tensor<2x5x4x6xf64>, tensor<2x4x8x6xf64>) -> (tensor<2x5x4x8xf64>, tensor<2x5x4x8xf64>, tensor<2x5x4x6xf64>, tensor<2x5x4x8xf64>)
  %0:4 = linrec.scan_bwd %q, %k, %v erase(%erase) cotangents(%d_o, %d_final)
      : (tensor<2x5x4x8xf64>, tensor<2x5x4x8xf64>, tensor<2x5x4x6xf64>, tensor<2x5x4x8xf64>, tensor<2x5x4x6xf64>, tensor<2x4x8x6xf64>) -> (tensor<2x5x4x8xf64>, tensor<2x5x4x8xf64>, tensor<2x5x4x6xf64>, tensor<2x5x4x8xf64>)
  return
}

// CHECK-LABEL: func.func @lowrank
func.func @lowrank(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %decay: tensor<2x5x4x8xf32>, %erase: tensor<2x5x4x8xf32>, %lowrank: tensor<2x5x4x8xf32>, %initial: tensor<2x4x8x6xf32>, %d_o: tensor<2x5x4x6xf32>, %d_final: tensor<2x4x8x6xf32>) {
  // CHECK: linrec.scan_bwd %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} decay(%{{[^ ]+}}) erase(%{{[^ ]+}}) lowrank(%{{[^ ]+}}) initial(%{{[^ ]+}}) cotangents(%{{[^ ]+}}, %{{[^ ]+}}) {chunk = 16 : i64, erase_before_decay, scale = 1.000000e+00 : f64}
  // CHECK-SAME: : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x4x8x6xf32>, tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x4x8x6xf32>)
  %0:7 = linrec.scan_bwd %q, %k, %v decay(%decay) erase(%erase) lowrank(%lowrank) initial(%initial) cotangents(%d_o, %d_final) {chunk = 16, erase_before_decay, scale = 1.0}
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x4x8x6xf32>, tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x4x8x6xf32>)
  return
}

// CHECK-LABEL: func.func @packed
func.func @packed(%q: tensor<1x5x4x8xf32>, %k: tensor<1x5x4x8xf32>, %v: tensor<1x5x4x6xf32>, %decay: tensor<1x5x4xf32>, %beta: tensor<1x5x4xf32>, %initial: tensor<3x4x8x6xf32>, %starts: tensor<4xi64>, %d_o: tensor<1x5x4x6xf32>, %d_final: tensor<3x4x8x6xf32>) {
  // CHECK: linrec.scan_bwd %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} decay(%{{[^ ]+}}) beta(%{{[^ ]+}}) initial(%{{[^ ]+}}) starts(%{{[^ ]+}}) cotangents(%{{[^ ]+}}, %{{[^ ]+}})
  // CHECK-SAME: : (tensor<1x5x4x8xf32>, tensor<1x5x4x8xf32>, tensor<1x5x4x6xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<3x4x8x6xf32>, tensor<4xi64>, tensor<1x5x4x6xf32>, tensor<3x4x8x6xf32>) -> (tensor<1x5x4x8xf32>, tensor<1x5x4x8xf32>, tensor<1x5x4x6xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<3x4x8x6xf32>)
  %0:6 = linrec.scan_bwd %q, %k, %v decay(%decay) beta(%beta) initial(%initial) starts(%starts) cotangents(%d_o, %d_final)
      : (tensor<1x5x4x8xf32>, tensor<1x5x4x8xf32>, tensor<1x5x4x6xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<3x4x8x6xf32>, tensor<4xi64>, tensor<1x5x4x6xf32>, tensor<3x4x8x6xf32>) -> (tensor<1x5x4x8xf32>, tensor<1x5x4x8xf32>, tensor<1x5x4x6xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<3x4x8x6xf32>)
  return
}

// CHECK-LABEL: func.func @open
func.func @open(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x4x6xf32>, %decay: tensor<?x?x4xf32>, %d_o: tensor<?x?x4x6xf32>, %d_final: tensor<?x4x8x6xf32>) {
  // CHECK: linrec.scan_bwd %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} decay(%{{[^ ]+}}) cotangents(%{{[^ ]+}}, %{{[^ ]+}})
  // CHECK-SAME: : (tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x4x6xf32>, tensor<?x?x4xf32>, tensor<?x?x4x6xf32>, tensor<?x4x8x6xf32>) -> (tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x4x6xf32>, tensor<?x?x4xf32>)
  %0:4 = linrec.scan_bwd %q, %k, %v decay(%decay) cotangents(%d_o, %d_final)
      : (tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x4x6xf32>, tensor<?x?x4xf32>, tensor<?x?x4x6xf32>, tensor<?x4x8x6xf32>) -> (tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x4x6xf32>, tensor<?x?x4xf32>)
  return
}

// CHECK-LABEL: func.func @open_packed
func.func @open_packed(%q: tensor<1x?x4x8xf32>, %k: tensor<1x?x4x8xf32>, %v: tensor<1x?x4x6xf32>, %initial: tensor<?x4x8x6xf32>, %starts: tensor<?xindex>, %d_o: tensor<1x?x4x6xf32>, %d_final: tensor<?x4x8x6xf32>) {
  // CHECK: linrec.scan_bwd %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} initial(%{{[^ ]+}}) starts(%{{[^ ]+}}) cotangents(%{{[^ ]+}}, %{{[^ ]+}})
  // CHECK-SAME: : (tensor<1x?x4x8xf32>, tensor<1x?x4x8xf32>, tensor<1x?x4x6xf32>, tensor<?x4x8x6xf32>, tensor<?xindex>, tensor<1x?x4x6xf32>, tensor<?x4x8x6xf32>) -> (tensor<1x?x4x8xf32>, tensor<1x?x4x8xf32>, tensor<1x?x4x6xf32>, tensor<?x4x8x6xf32>)
  %0:4 = linrec.scan_bwd %q, %k, %v initial(%initial) starts(%starts) cotangents(%d_o, %d_final)
      : (tensor<1x?x4x8xf32>, tensor<1x?x4x8xf32>, tensor<1x?x4x6xf32>, tensor<?x4x8x6xf32>, tensor<?xindex>, tensor<1x?x4x6xf32>, tensor<?x4x8x6xf32>) -> (tensor<1x?x4x8xf32>, tensor<1x?x4x8xf32>, tensor<1x?x4x6xf32>, tensor<?x4x8x6xf32>)
  return
}
