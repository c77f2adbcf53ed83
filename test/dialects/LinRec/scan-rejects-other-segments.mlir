// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @rejected(%q: tensor<1x64x4x8xf32>) {
  // expected-error @below {{segments must be positive, but is 0}}
  %0:2 = linrec.scan %q, %q, %q {segments = 0}
      : (tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>) -> (tensor<1x64x4x8xf32>, tensor<1x4x8x8xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<1x64x4x8xf32>, %starts: tensor<3xi32>) {
  // expected-error @below {{segments do not go with starts: packed sequences are computed side by side already}}
  %0:2 = linrec.scan %q, %q, %q starts(%starts) {segments = 2}
      : (tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>, tensor<3xi32>) -> (tensor<1x64x4x8xf32>, tensor<2x4x8x8xf32>)
  return
}
