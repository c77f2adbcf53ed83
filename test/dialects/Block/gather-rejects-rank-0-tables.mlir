// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<f32>, %i: tensor<4xi32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{needs a first dimension in source to index}}
  %0 = block.gather %x[%i] outs(%o) : tensor<f32>[tensor<4xi32>] -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
