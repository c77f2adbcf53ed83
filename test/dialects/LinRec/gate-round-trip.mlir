// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception


func.func @gates(%x: tensor<2x?x4x8xbf16>, %y: tensor<2x?x4xf64>, %a: tensor<4xf32>, %b: tensor<4x8xf32>, %c: tensor<4xf64>) {
  // CHECK: linrec.gate log_sigmoid %{{.*}} {temperature = 1.600000e+01 : f64} : (tensor<2x?x4x8xbf16>) -> tensor<2x?x4x8xf32>
  %0 = linrec.gate log_sigmoid %x {temperature = 16.0} : (tensor<2x?x4x8xbf16>) -> tensor<2x?x4x8xf32>
  // CHECK: linrec.gate softplus %{{.*}} scale(%{{.*}}) bias(%{{.*}}) : (tensor<2x?x4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<2x?x4xf64>
  %1 = linrec.gate softplus %y scale(%c) bias(%c) : (tensor<2x?x4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<2x?x4xf64>
  // CHECK: linrec.gate bounded %{{.*}} scale(%{{.*}}) bias(%{{.*}}) {limit = 5.000000e+00 : f64}
  %2 = linrec.gate bounded %x scale(%a) bias(%b) {limit = 5.0} : (tensor<2x?x4x8xbf16>, tensor<4xf32>, tensor<4x8xf32>) -> tensor<2x?x4x8xf32>
  // CHECK: linrec.gate floored %{{.*}} bias(%{{.*}}) {floor = 2.500000e-01 : f64}
  %3 = linrec.gate floored %x bias(%a) {floor = 0.25} : (tensor<2x?x4x8xbf16>, tensor<4xf32>) -> tensor<2x?x4x8xf32>
  return
}
