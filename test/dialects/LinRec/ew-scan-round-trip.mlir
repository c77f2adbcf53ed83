// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception


func.func @scans(%x: tensor<?x?x6xf32>, %y: tensor<1x9x6xbf16>, %i: tensor<3x6xf32>, %s: tensor<4xi32>, %a: tensor<6x8xf32>, %b: tensor<1x9x8xbf16>) {
  // CHECK: linrec.ew_scan %{{[^ ]+}} decay(%{{[^ ]+}}) : (tensor<?x?x6xf32>, tensor<?x?x6xf32>) -> (tensor<?x?x6xf32>, tensor<?x6xf32>)
  %0:2 = linrec.ew_scan %x decay(%x) : (tensor<?x?x6xf32>, tensor<?x?x6xf32>) -> (tensor<?x?x6xf32>, tensor<?x6xf32>)
  // CHECK: linrec.ew_scan %{{[^ ]+}} decay(%{{[^ ]+}}) initial(%{{[^ ]+}}) starts(%{{[^ ]+}})
  %1:2 = linrec.ew_scan %y decay(%y) initial(%i) starts(%s) : (tensor<1x9x6xbf16>, tensor<1x9x6xbf16>, tensor<3x6xf32>, tensor<4xi32>) -> (tensor<1x9x6xbf16>, tensor<3x6xf32>)
  // CHECK: linrec.ew_scan %{{[^ ]+}} decay(%{{[^ ]+}}) rates(%{{[^ ]+}}) write(%{{[^ ]+}}) read(%{{[^ ]+}}) :
  %2:2 = linrec.ew_scan %y decay(%y) rates(%a) write(%b) read(%b) : (tensor<1x9x6xbf16>, tensor<1x9x6xbf16>, tensor<6x8xf32>, tensor<1x9x8xbf16>, tensor<1x9x8xbf16>) -> (tensor<1x9x6xbf16>, tensor<1x6x8xf32>)
  return
}
