// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception


func.func @rejected(%q: tensor<2x1x4x8xf32>, %v: tensor<2x1x4x6xf32>, %s: tensor<2x4x8x6xf32>) {
  // expected-error @below {{q must have three dimensions (batch, heads, size), but is 'tensor<2x1x4x8xf32>'}}
  %0:2 = linrec.step %q, %q, %v state(%s)
      : (tensor<2x1x4x8xf32>, tensor<2x1x4x8xf32>, tensor<2x1x4x6xf32>, tensor<2x4x8x6xf32>) -> (tensor<2x1x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<3x4x8xf32>, %v: tensor<2x4x6xf32>, %s: tensor<2x4x8x6xf32>) {
  // expected-error @below {{q, k and v must have the same batch, but q is 'tensor<3x4x8xf32>' and v 'tensor<2x4x6xf32>'}}
  %0:2 = linrec.step %q, %q, %v state(%s)
      : (tensor<3x4x8xf32>, tensor<3x4x8xf32>, tensor<2x4x6xf32>, tensor<2x4x8x6xf32>) -> (tensor<2x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<2x4x8xf32>, %v: tensor<2x4x6xf32>, %s: tensor<2x4x6x8xf32>) {
  // expected-error @below {{state must have shape 2x4x8x6, but has 2x4x6x8}}
  %0:2 = linrec.step %q, %q, %v state(%s)
      : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x6xf32>, tensor<2x4x6x8xf32>) -> (tensor<2x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<2x4x8xbf16>, %v: tensor<2x4x6xbf16>, %s: tensor<2x4x8x6xbf16>) {
  // expected-error @below {{state must be of 'f32' for v of 'bf16', but is 'tensor<2x4x8x6xbf16>'}}
  %0:2 = linrec.step %q, %q, %v state(%s)
      : (tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4x6xbf16>, tensor<2x4x8x6xbf16>) -> (tensor<2x4x6xbf16>, tensor<2x4x8x6xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<2x4x8xf32>, %v: tensor<2x4x6xf32>, %g: tensor<2x5x4x8xf32>, %s: tensor<2x4x8x6xf32>) {
  // expected-error @below {{decay must have shape [heads], [batch, heads] or [batch, heads, size], but is 'tensor<2x5x4x8xf32>'}}
  %0:2 = linrec.step %q, %q, %v decay(%g) state(%s)
      : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x6xf32>, tensor<2x5x4x8xf32>, tensor<2x4x8x6xf32>) -> (tensor<2x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}
