// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @declared(tensor<4xf32>, i32) -> tensor<f32>

func.func @caller(%x: tensor<4xf32>, %n: i32) {
  // expected-error @+1 {{'@declared' has no body to differentiate}}
  %0:2 = ad.value_and_grad @declared(%x, %n) wrt [0]
      : (tensor<4xf32>, i32) -> (tensor<f32>, tensor<4xf32>)
  return
}
