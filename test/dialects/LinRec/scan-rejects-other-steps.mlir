// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @rejected(%q: tensor<1x64x4x8xf32>) {
  // expected-error @below {{steps_per_token must be positive, but is 0}}
  %0:2 = linrec.scan %q, %q, %q {steps_per_token = 0}
      : (tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>) -> (tensor<1x64x4x8xf32>, tensor<1x4x8x8xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<1x64x4x8xf32>) {
  // expected-error @below {{v must have the batch of q and 2 steps for each of its tokens, but q is 'tensor<1x64x4x8xf32>' and v 'tensor<1x64x4x8xf32>'}}
  %0:2 = linrec.scan %q, %q, %q {steps_per_token = 2}
      : (tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>) -> (tensor<1x64x4x8xf32>, tensor<1x4x8x8xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<1x32x4x8xf32>, %k: tensor<1x64x4x8xf32>, %g: tensor<1x64x4xf32>) {
  // expected-error @below {{decay must have shape 1x32x4, but has 1x64x4}}
  %0:2 = linrec.scan %q, %k, %k decay(%g) {steps_per_token = 2}
      : (tensor<1x32x4x8xf32>, tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>, tensor<1x64x4xf32>) -> (tensor<1x32x4x8xf32>, tensor<1x4x8x8xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<1x32x4x8xf32>, %k: tensor<1x64x4x8xf32>, %beta: tensor<1x32x4xf32>) {
  // expected-error @below {{beta must have shape 1x64x4, but has 1x32x4}}
  %0:2 = linrec.scan %q, %k, %k beta(%beta) {steps_per_token = 2}
      : (tensor<1x32x4x8xf32>, tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>, tensor<1x32x4xf32>) -> (tensor<1x32x4x8xf32>, tensor<1x4x8x8xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<1x32x4x8xf32>, %k: tensor<1x64x4x8xf32>) {
  // expected-error @below {{the first result must be}}
  %0:2 = linrec.scan %q, %k, %k {steps_per_token = 2}
      : (tensor<1x32x4x8xf32>, tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>) -> (tensor<1x64x4x8xf32>, tensor<1x4x8x8xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<1x32x4x8xf32>, %k: tensor<1x64x4x8xf32>, %g: tensor<4xf32>) {
  // expected-error @below {{steps_per_token do not go with a decay of heads: the first step of a token decays, so it is given for each token}}
  %0:2 = linrec.scan %q, %k, %k decay(%g) {steps_per_token = 2}
      : (tensor<1x32x4x8xf32>, tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>, tensor<4xf32>) -> (tensor<1x32x4x8xf32>, tensor<1x4x8x8xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<1x32x4x8xf32>, %k: tensor<1x64x4x8xf32>, %u: tensor<4x8xf32>) {
  // expected-error @below {{steps_per_token do not go with bonus, by which tokens are read before they are written}}
  %0:2 = linrec.scan %q, %k, %k bonus(%u) {steps_per_token = 2}
      : (tensor<1x32x4x8xf32>, tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>, tensor<4x8xf32>) -> (tensor<1x32x4x8xf32>, tensor<1x4x8x8xf32>)
  return
}
