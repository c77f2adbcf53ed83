// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @rejected(%q: tensor<1x5x4x8xf32>, %k: tensor<1x5x4x8xf32>, %v: tensor<1x5x4x6xf32>, %starts: tensor<2x2xi32>) {
  // expected-error @below {{starts must have one dimension of at least 1 entry, but is 'tensor<2x2xi32>'}}
  %0:2 = linrec.scan %q, %k, %v starts(%starts)
      : (tensor<1x5x4x8xf32>, tensor<1x5x4x8xf32>, tensor<1x5x4x6xf32>, tensor<2x2xi32>) -> (tensor<1x5x4x6xf32>, tensor<1x4x8x6xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<1x5x4x8xf32>, %k: tensor<1x5x4x8xf32>, %v: tensor<1x5x4x6xf32>, %starts: tensor<0xi32>) {
  // expected-error @below {{starts must have one dimension of at least 1 entry, but is 'tensor<0xi32>'}}
  %0:2 = linrec.scan %q, %k, %v starts(%starts)
      : (tensor<1x5x4x8xf32>, tensor<1x5x4x8xf32>, tensor<1x5x4x6xf32>, tensor<0xi32>) -> (tensor<1x5x4x6xf32>, tensor<1x4x8x6xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<1x4x1x2xf32>, %starts: tensor<1xi32>) {
  // expected-error @below {{starts of one entry are those of no sequence, but there are 4 tokens}}
  %0:2 = linrec.scan %q, %q, %q starts(%starts) : (tensor<1x4x1x2xf32>, tensor<1x4x1x2xf32>, tensor<1x4x1x2xf32>, tensor<1xi32>) -> (tensor<1x4x1x2xf32>, tensor<0x1x2x2xf32>)
  return
}
