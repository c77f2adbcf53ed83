// RUN: drawloom-opt %s --differentiate --canonicalize | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Nobody knows whether the slice at %i overlaps the first one: its cotangent is
// added to what is there.
// CHECK-LABEL: func.func @gradient
// CHECK: %[[FIRST:.+]] = tensor.insert_slice
// CHECK: tensor.extract_slice %[[FIRST]]
// CHECK: arith.addf
// CHECK: tensor.insert_slice {{.*}} into %[[FIRST]]
func.func @f(%x: tensor<8xf64>, %i: index) -> tensor<4xf64> {
  %a = tensor.extract_slice %x[%i] [4] [1] : tensor<8xf64> to tensor<4xf64>
  %b = tensor.extract_slice %x[0] [4] [1] : tensor<8xf64> to tensor<4xf64>
  %y = arith.mulf %a, %b : tensor<4xf64>
  return %y : tensor<4xf64>
}

func.func @gradient(%x: tensor<8xf64>, %i: index, %g: tensor<4xf64>) -> tensor<8xf64> {
  %r:2 = ad.vjp @f(%x, %i) cotangents(%g) wrt [0] : (tensor<8xf64>, index) -> (tensor<4xf64>, tensor<8xf64>)
  return %r#1 : tensor<8xf64>
}
