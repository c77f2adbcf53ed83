// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

func.func @caller(%x: tensor<4xf32>, %g: tensor<5xf32>) {
  // expected-error @+1 {{cotangent 0 has type 'tensor<5xf32>' but the result has type 'tensor<4xf32>'}}
  %0:2 = "ad.vjp"(%x, %g) {callee = @f, wrt = array<i64: 0>,
                           operandSegmentSizes = array<i32: 1, 1>}
      : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}
