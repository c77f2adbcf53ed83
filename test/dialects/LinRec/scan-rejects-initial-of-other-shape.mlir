// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @rejected(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %initial: tensor<2x4x6x8xf32>) {
  // expected-error @below {{initial must have shape 2x4x8x6, but has 2x4x6x8}}
  %0:2 = linrec.scan %q, %k, %v initial(%initial)
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x4x6x8xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<1x5x4x8xf32>, %k: tensor<1x5x4x8xf32>, %v: tensor<1x5x4x6xf32>, %initial: tensor<1x4x8x6xf32>, %starts: tensor<4xi32>) {
  // expected-error @below {{initial must have shape 3x4x8x6, but has 1x4x8x6}}
  %0:2 = linrec.scan %q, %k, %v initial(%initial) starts(%starts)
      : (tensor<1x5x4x8xf32>, tensor<1x5x4x8xf32>, tensor<1x5x4x6xf32>, tensor<1x4x8x6xf32>, tensor<4xi32>) -> (tensor<1x5x4x6xf32>, tensor<3x4x8x6xf32>)
  return
}
