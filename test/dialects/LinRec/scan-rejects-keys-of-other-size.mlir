// RUN: drawloom-opt %s -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @rejected(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x7xf32>, %v: tensor<2x5x4x6xf32>) {
  // expected-error @below {{q and k must have the same size, but have 8 and 7}}
  %0:2 = linrec.scan %q, %k, %v
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x7xf32>, tensor<2x5x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}
