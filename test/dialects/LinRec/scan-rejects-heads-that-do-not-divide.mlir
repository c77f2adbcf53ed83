// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @rejected(%q: tensor<2x5x3x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>) {
  // expected-error @below {{the heads of q must divide those of v, but are 3 of 4}}
  %0:2 = linrec.scan %q, %k, %v
      : (tensor<2x5x3x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x8x8xf32>, %v: tensor<2x5x4x6xf32>) {
  // expected-error @below {{the heads of k must divide those of v, but are 8 of 4}}
  %0:2 = linrec.scan %q, %k, %v
      : (tensor<2x5x4x8xf32>, tensor<2x5x8x8xf32>, tensor<2x5x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}
