// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @rejected(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %decay: tensor<2x5xf32>) {
  // expected-error @below {{decay must have shape [heads], [batch, tokens, heads] or [batch, tokens, heads, size], but is 'tensor<2x5xf32>'}}
  %0:2 = linrec.scan %q, %k, %v decay(%decay)
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %decay: tensor<3xf32>) {
  // expected-error @below {{decay must have shape 4, but has 3}}
  %0:2 = linrec.scan %q, %k, %v decay(%decay)
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<3xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %decay: tensor<2x5x3xf32>) {
  // expected-error @below {{decay must have shape 2x5x4, but has 2x5x3}}
  %0:2 = linrec.scan %q, %k, %v decay(%decay)
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x3xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %decay: tensor<2x5x4x6xf32>) {
  // expected-error @below {{decay must have shape 2x5x4x8, but has 2x5x4x6}}
  %0:2 = linrec.scan %q, %k, %v decay(%decay)
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %decay: tensor<2x5x4x8xf32>) {
  // expected-error @below {{decay must have shape 2x5x4x6, but has 2x5x4x8}}
  %0:2 = linrec.scan %q, %k, %v decay(%decay) {decay_along_values}
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x8xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}
