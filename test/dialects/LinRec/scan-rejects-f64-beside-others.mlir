// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @rejected(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %decay: tensor<4xf64>) {
  // expected-error @below {{either all operands are f64 or none, but v is 'tensor<2x5x4x6xf32>' and another 'tensor<4xf64>'}}
  %0:2 = linrec.scan %q, %k, %v decay(%decay)
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<4xf64>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf64>, %v: tensor<2x5x4x6xf64>) {
  // expected-error @below {{either all operands are f64 or none, but v is 'tensor<2x5x4x6xf64>' and another 'tensor<2x5x4x8xf32>'}}
  %0:2 = linrec.scan %q, %k, %v
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf64>, tensor<2x5x4x6xf64>) -> (tensor<2x5x4x6xf64>, tensor<2x4x8x6xf64>)
  return
}
