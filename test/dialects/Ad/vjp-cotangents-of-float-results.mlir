// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, i32) {
  %n = arith.constant 1 : i32
  return %x, %n : tensor<4xf32>, i32
}

func.func @caller(%x: tensor<4xf32>, %l: tensor<f32>) {
  // expected-error @+1 {{result 1 of '@f' has type 'i32', which has no cotangent: it must be a float or a ranked tensor of floats}}
  %0:3 = ad.vjp @f(%x) cotangents(%x) wrt [0]
      : (tensor<4xf32>) -> (tensor<4xf32>, i32, tensor<4xf32>)
  return
}
