// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: func.func @nothing
func.func @nothing(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>) {
  // CHECK: linrec.scan %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}
  // CHECK-SAME: : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  %0:2 = linrec.scan %q, %k, %v
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}

// CHECK-LABEL: func.func @constant
func.func @constant(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %decay: tensor<4xf32>) {
  // CHECK: linrec.scan %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} decay(%{{[^ ]+}}) {scale = 1.000000e+00 : f64}
  // CHECK-SAME: : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<4xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  %0:2 = linrec.scan %q, %k, %v decay(%decay) {scale = 1.0}
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<4xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}

// CHECK-LABEL: func.func @scalar
func.func @scalar(%q: tensor<2x5x4x8xf16>, %k: tensor<2x5x4x8xf16>, %v: tensor<2x5x4x6xf16>, %decay: tensor<2x5x4xf16>) {
  // CHECK: linrec.scan %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} decay(%{{[^ ]+}}) {decay_bound = -5.000000e+00 : f64}
  // CHECK-SAME: : (tensor<2x5x4x8xf16>, tensor<2x5x4x8xf16>, tensor<2x5x4x6xf16>, tensor<2x5x4xf16>) -> (tensor<2x5x4x6xf16>, tensor<2x4x8x6xf32>)
  %0:2 = linrec.scan %q, %k, %v decay(%decay) {decay_bound = -5.0}
      : (tensor<2x5x4x8xf16>, tensor<2x5x4x8xf16>, tensor<2x5x4x6xf16>, tensor<2x5x4xf16>) -> (tensor<2x5x4x6xf16>, tensor<2x4x8x6xf32>)
  return
}

// CHECK-LABEL: func.func @keys
func.func @keys(%q: tensor<2x5x4x8xbf16>, %k: tensor<2x5x4x8xbf16>, %v: tensor<2x5x4x6xbf16>, %decay: tensor<2x5x4x8xbf16>, %initial: tensor<2x4x8x6xf32>) {
  // CHECK: linrec.scan %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} decay(%{{[^ ]+}}) initial(%{{[^ ]+}}) {chunk = 64 : i64}
  // CHECK-SAME: : (tensor<2x5x4x8xbf16>, tensor<2x5x4x8xbf16>, tensor<2x5x4x6xbf16>, tensor<2x5x4x8xbf16>, tensor<2x4x8x6xf32>) -> (tensor<2x5x4x6xbf16>, tensor<2x4x8x6xf32>)
  %0:2 = linrec.scan %q, %k, %v decay(%decay) initial(%initial) {chunk = 64}
      : (tensor<2x5x4x8xbf16>, tensor<2x5x4x8xbf16>, tensor<2x5x4x6xbf16>, tensor<2x5x4x8xbf16>, tensor<2x4x8x6xf32>) -> (tensor<2x5x4x6xbf16>, tensor<2x4x8x6xf32>)
  return
}

// CHECK-LABEL: func.func @values
func.func @values(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %decay: tensor<2x5x4x6xf32>) {
  // CHECK: linrec.scan %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} decay(%{{[^ ]+}}) {decay_along_values}
  // CHECK-SAME: : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  %0:2 = linrec.scan %q, %k, %v decay(%decay) {decay_along_values}
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}

// CHECK-LABEL: func.func @bonus
func.func @bonus(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %decay: tensor<2x5x4x8xf32>, %bonus: tensor<4x8xf32>) {
  // CHECK: linrec.scan %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} decay(%{{[^ ]+}}) bonus(%{{[^ ]+}})
  // CHECK-SAME: : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x8xf32>, tensor<4x8xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  %0:2 = linrec.scan %q, %k, %v decay(%decay) bonus(%bonus)
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x8xf32>, tensor<4x8xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}

// CHECK-LABEL: func.func @beta
func.func @beta(%q: tensor<2x5x2x8xf32>, %k: tensor<2x5x1x8xf32>, %v: tensor<2x5x4x6xf32>, %decay: tensor<2x5x4xf32>, %beta: tensor<2x5x4xf32>) {
  // CHECK: linrec.scan %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} decay(%{{[^ ]+}}) beta(%{{[^ ]+}}) {erase_before_decay}
  // CHECK-SAME: : (tensor<2x5x2x8xf32>, tensor<2x5x1x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4xf32>, tensor<2x5x4xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  %0:2 = linrec.scan %q, %k, %v decay(%decay) beta(%beta) {erase_before_decay}
      : (tensor<2x5x2x8xf32>, tensor<2x5x1x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4xf32>, tensor<2x5x4xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}

// CHECK-LABEL: func.func @erase
func.func @erase(%q: tensor<2x5x4x8xf64>, %k: tensor<2x5x4x8xf64>, %v: tensor<2x5x4x6xf64>, %erase: tensor<2x5x4x8xf64>) {
  // CHECK: linrec.scan %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} erase(%{{[^ ]+}})
  // CHECK-SAME: : (tensor<2x5x4x8xf64>, tensor<2x5x4x8xf64>, tensor<2x5x4x6xf64>, tensor<2x5x4x8xf64>) -> (tensor<2x5x4x6xf64>, tensor<2x4x8x6xf64>)
  %0:2 = linrec.scan %q, %k, %v erase(%erase)
      : (tensor<2x5x4x8xf64>, tensor<2x5x4x8xf64>, tensor<2x5x4x6xf64>, tensor<2x5x4x8xf64>) -> (tensor<2x5x4x6xf64>, tensor<2x4x8x6xf64>)
  return
}

// CHECK-LABEL: func.func @lowrank
func.func @lowrank(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %decay: tensor<2x5x4x8xf32>, %erase: tensor<2x5x4x8xf32>, %lowrank: tensor<2x5x4x8xf32>, %initial: tensor<2x4x8x6xf32>) {
  // CHECK: linrec.scan %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} decay(%{{[^ ]+}}) erase(%{{[^ ]+}}) lowrank(%{{[^ ]+}}) initial(%{{[^ ]+}}) {chunk = 16 : i64, erase_before_decay, scale = 1.000000e+00 : f64}
  // CHECK-SAME: : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x4x8x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  %0:2 = linrec.scan %q, %k, %v decay(%decay) erase(%erase) lowrank(%lowrank) initial(%initial) {chunk = 16, erase_before_decay, scale = 1.0}
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x4x8x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}

// CHECK-LABEL: func.func @packed
func.func @packed(%q: tensor<1x5x4x8xf32>, %k: tensor<1x5x4x8xf32>, %v: tensor<1x5x4x6xf32>, %decay: tensor<1x5x4xf32>, %beta: tensor<1x5x4xf32>, %initial: tensor<3x4x8x6xf32>, %starts: tensor<4xi32>) {
  // CHECK: linrec.scan %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} decay(%{{[^ ]+}}) beta(%{{[^ ]+}}) initial(%{{[^ ]+}}) starts(%{{[^ ]+}})
  // CHECK-SAME: : (tensor<1x5x4x8xf32>, tensor<1x5x4x8xf32>, tensor<1x5x4x6xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<3x4x8x6xf32>, tensor<4xi32>) -> (tensor<1x5x4x6xf32>, tensor<3x4x8x6xf32>)
  %0:2 = linrec.scan %q, %k, %v decay(%decay) beta(%beta) initial(%initial) starts(%starts)
      : (tensor<1x5x4x8xf32>, tensor<1x5x4x8xf32>, tensor<1x5x4x6xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<3x4x8x6xf32>, tensor<4xi32>) -> (tensor<1x5x4x6xf32>, tensor<3x4x8x6xf32>)
  return
}

// CHECK-LABEL: func.func @open
func.func @open(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x4x6xf32>, %decay: tensor<?x?x4xf32>) {
  // CHECK: linrec.scan %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} decay(%{{[^ ]+}})
  // CHECK-SAME: : (tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x4x6xf32>, tensor<?x?x4xf32>) -> (tensor<?x?x4x6xf32>, tensor<?x4x8x6xf32>)
  %0:2 = linrec.scan %q, %k, %v decay(%decay)
      : (tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x4x6xf32>, tensor<?x?x4xf32>) -> (tensor<?x?x4x6xf32>, tensor<?x4x8x6xf32>)
  return
}

// CHECK-LABEL: func.func @open_packed
func.func @open_packed(%q: tensor<1x?x4x8xf32>, %k: tensor<1x?x4x8xf32>, %v: tensor<1x?x4x6xf32>, %initial: tensor<?x4x8x6xf32>, %starts: tensor<?xindex>) {
  // CHECK: linrec.scan %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} initial(%{{[^ ]+}}) starts(%{{[^ ]+}})
  // CHECK-SAME: : (tensor<1x?x4x8xf32>, tensor<1x?x4x8xf32>, tensor<1x?x4x6xf32>, tensor<?x4x8x6xf32>, tensor<?xindex>) -> (tensor<1x?x4x6xf32>, tensor<?x4x8x6xf32>)
  %0:2 = linrec.scan %q, %k, %v initial(%initial) starts(%starts)
      : (tensor<1x?x4x8xf32>, tensor<1x?x4x8xf32>, tensor<1x?x4x6xf32>, tensor<?x4x8x6xf32>, tensor<?xindex>) -> (tensor<1x?x4x6xf32>, tensor<?x4x8x6xf32>)
  return
}
