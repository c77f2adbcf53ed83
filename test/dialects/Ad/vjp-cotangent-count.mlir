// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %l = tensor.empty() : tensor<f32>
  return %x, %l : tensor<4xf32>, tensor<f32>
}

func.func @caller(%x: tensor<4xf32>, %l: tensor<f32>) {
  // expected-error @+1 {{needs one cotangent for each of the 2 results of '@f', not 1}}
  %0:3 = ad.vjp @f(%x) cotangents(%x) wrt [0]
      : (tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>, tensor<4xf32>)
  return
}
