// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @loss(%x: tensor<4xf32>, %n: i32) -> tensor<f32> {
  %l = tensor.empty() : tensor<f32>
  return %l : tensor<f32>
}

func.func @caller(%x: tensor<4xf32>, %n: i32) {
  // expected-error @+1 {{argument 1 of type 'i32' has no gradient: it must be a float or a ranked tensor of floats}}
  %0:2 = ad.value_and_grad @loss(%x, %n) wrt [1]
      : (tensor<4xf32>, i32) -> (tensor<f32>, tensor<4xf32>)
  return
}
