// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %l = tensor.empty() : tensor<f32>
  return %x, %l : tensor<4xf32>, tensor<f32>
}

func.func @caller(%x: tensor<4xf32>, %l: tensor<f32>) {
  // expected-error @+1 {{4 cotangents but only 3 results}}
  %0:3 = ad.vjp @f(%x) cotangents(%x, %l, %x, %x) wrt [0]
      : (tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>, tensor<4xf32>)
  return
}
