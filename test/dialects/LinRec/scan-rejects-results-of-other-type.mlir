// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @rejected(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>) {
  // expected-error @below {{the first result must be 'tensor<2x5x4x6xf32>', but is 'tensor<2x5x4x8xf32>'}}
  %0:2 = linrec.scan %q, %k, %v
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x4x8x6xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<2x5x4x8xbf16>, %k: tensor<2x5x4x8xbf16>, %v: tensor<2x5x4x6xbf16>) {
  // expected-error @below {{the first result must be 'tensor<2x5x4x6xbf16>', but is 'tensor<2x5x4x6xf32>'}}
  %0:2 = linrec.scan %q, %k, %v
      : (tensor<2x5x4x8xbf16>, tensor<2x5x4x8xbf16>, tensor<2x5x4x6xbf16>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<2x5x4x8xbf16>, %k: tensor<2x5x4x8xbf16>, %v: tensor<2x5x4x6xbf16>) {
  // expected-error @below {{the final state must be 'tensor<2x4x8x6xf32>', but is 'tensor<2x4x8x6xbf16>'}}
  %0:2 = linrec.scan %q, %k, %v
      : (tensor<2x5x4x8xbf16>, tensor<2x5x4x8xbf16>, tensor<2x5x4x6xbf16>) -> (tensor<2x5x4x6xbf16>, tensor<2x4x8x6xbf16>)
  return
}

// -----

func.func @rejected(%q: tensor<1x5x4x8xf32>, %k: tensor<1x5x4x8xf32>, %v: tensor<1x5x4x6xf32>, %starts: tensor<4xi32>) {
  // expected-error @below {{the final state must be 'tensor<3x4x8x6xf32>', but is 'tensor<1x4x8x6xf32>'}}
  %0:2 = linrec.scan %q, %k, %v starts(%starts)
      : (tensor<1x5x4x8xf32>, tensor<1x5x4x8xf32>, tensor<1x5x4x6xf32>, tensor<4xi32>) -> (tensor<1x5x4x6xf32>, tensor<1x4x8x6xf32>)
  return
}
