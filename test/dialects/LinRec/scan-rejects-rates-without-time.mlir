// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception


func.func @rejected(%q: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %rates: tensor<4x8x6xf32>) {
  // expected-error @below {{rates need decay_along_values: they say how each element of the state decays while the time of a value passes}}
  %0:2 = linrec.scan %q, %q, %v rates(%rates)
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<4x8x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %rates: tensor<4x6x8xf32>) {
  // expected-error @below {{rates must have shape 4x8x6, but has 4x6x8}}
  %0:2 = linrec.scan %q, %q, %v decay(%v) rates(%rates) {decay_along_values}
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>, tensor<4x6x8xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}
