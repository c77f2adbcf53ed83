// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception


func.func @steps(%q: tensor<2x2x8xbf16>, %k: tensor<2x1x8xbf16>, %v: tensor<2x4x6xbf16>, %g: tensor<4xf32>, %b: tensor<2x4xf32>, %s: tensor<2x4x8x6xf32>, %u: tensor<4x8xf32>, %t: tensor<2x4x6xf32>, %r: tensor<4x8x6xf32>, %a: tensor<2x4x8xbf16>) {
  // CHECK: linrec.step %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} decay(%{{[^ ]+}}) beta(%{{[^ ]+}}) state(%{{[^ ]+}}) {erase_before_decay}
  %0:2 = linrec.step %q, %k, %v decay(%g) beta(%b) state(%s) {erase_before_decay}
      : (tensor<2x2x8xbf16>, tensor<2x1x8xbf16>, tensor<2x4x6xbf16>, tensor<4xf32>, tensor<2x4xf32>, tensor<2x4x8x6xf32>) -> (tensor<2x4x6xbf16>, tensor<2x4x8x6xf32>)
  // CHECK: linrec.step {{.*}} bonus(%{{[^ ]+}}) state(%{{[^ ]+}}) {scale = 1.000000e+00 : f64}
  %1:2 = linrec.step %q, %k, %v bonus(%u) state(%s) {scale = 1.0}
      : (tensor<2x2x8xbf16>, tensor<2x1x8xbf16>, tensor<2x4x6xbf16>, tensor<4x8xf32>, tensor<2x4x8x6xf32>) -> (tensor<2x4x6xbf16>, tensor<2x4x8x6xf32>)
  // CHECK: linrec.step {{.*}} decay(%{{[^ ]+}}) rates(%{{[^ ]+}}) state(%{{[^ ]+}}) {decay_along_values}
  %2:2 = linrec.step %q, %k, %v decay(%t) rates(%r) state(%s) {decay_along_values}
      : (tensor<2x2x8xbf16>, tensor<2x1x8xbf16>, tensor<2x4x6xbf16>, tensor<2x4x6xf32>, tensor<4x8x6xf32>, tensor<2x4x8x6xf32>) -> (tensor<2x4x6xbf16>, tensor<2x4x8x6xf32>)
  // CHECK: linrec.step {{.*}} erase(%{{[^ ]+}}) lowrank(%{{[^ ]+}}) state(%{{[^ ]+}}) :
  %3:2 = linrec.step %q, %k, %v erase(%a) lowrank(%a) state(%s)
      : (tensor<2x2x8xbf16>, tensor<2x1x8xbf16>, tensor<2x4x6xbf16>, tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4x8x6xf32>) -> (tensor<2x4x6xbf16>, tensor<2x4x8x6xf32>)
  return
}
