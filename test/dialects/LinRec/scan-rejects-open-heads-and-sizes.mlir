// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @rejected(%q: tensor<2x5x?x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>) {
  // expected-error @below {{q must have a known number of heads and a known size, at least 1, but is 'tensor<2x5x?x8xf32>'}}
  %0:2 = linrec.scan %q, %k, %v
      : (tensor<2x5x?x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x?xf32>) {
  // expected-error @below {{v must have a known number of heads and a known size, at least 1, but is 'tensor<2x5x4x?xf32>'}}
  %0:2 = linrec.scan %q, %k, %v
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x?xf32>) -> (tensor<2x5x4x?xf32>, tensor<2x4x8x?xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x0xf32>, %v: tensor<2x5x4x6xf32>) {
  // expected-error @below {{k must have a known number of heads and a known size, at least 1, but is 'tensor<2x5x4x0xf32>'}}
  %0:2 = linrec.scan %q, %k, %v
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x0xf32>, tensor<2x5x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}
