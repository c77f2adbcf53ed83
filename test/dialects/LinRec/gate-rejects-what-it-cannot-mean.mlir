// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception


func.func @rejected(%x: tensor<2x4xf32>) {
  // expected-error @below {{x must have shape [batch, tokens, heads] or [batch, tokens, heads, size], heads and size known, but is 'tensor<2x4xf32>'}}
  %0 = linrec.gate log_sigmoid %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x5x4xf32>, %a: tensor<4xf32>) {
  // expected-error @below {{scale has no meaning for the kind log_sigmoid}}
  %0 = linrec.gate log_sigmoid %x scale(%a) : (tensor<2x5x4xf32>, tensor<4xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x5x4xf32>) {
  // expected-error @below {{temperature has no meaning for the kind softplus}}
  %0 = linrec.gate softplus %x {temperature = 16.0} : (tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x5x4xf32>) {
  // expected-error @below {{limit has no meaning for the kind floored}}
  %0 = linrec.gate floored %x {floor = 0.5, limit = 1.0} : (tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x5x4xf32>) {
  // expected-error @below {{floor has no meaning for the kind bounded}}
  %0 = linrec.gate bounded %x {floor = 0.5, limit = 1.0} : (tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x5x4xf32>) {
  // expected-error @below {{the kind bounded needs a limit}}
  %0 = linrec.gate bounded %x : (tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x5x4xf32>) {
  // expected-error @below {{the kind floored needs a floor}}
  %0 = linrec.gate floored %x : (tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x5x4xf32>) {
  // expected-error @below {{temperature must be positive}}
  %0 = linrec.gate log_sigmoid %x {temperature = 0.0} : (tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x5x4xf32>) {
  // expected-error @below {{limit must be positive}}
  %0 = linrec.gate bounded %x {limit = -5.0} : (tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x5x4xf32>) {
  // expected-error @below {{floor must be at least 0 and less than 1}}
  %0 = linrec.gate floored %x {floor = 1.0} : (tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x5x4xf32>, %a: tensor<3xf32>) {
  // expected-error @below {{scale must have shape 4, but has 3}}
  %0 = linrec.gate softplus %x scale(%a) : (tensor<2x5x4xf32>, tensor<3xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x5x4xf32>, %b: tensor<4x8xf32>) {
  // expected-error @below {{bias must have shape 4, but has 4x8}}
  %0 = linrec.gate softplus %x bias(%b) : (tensor<2x5x4xf32>, tensor<4x8xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x5x4xf32>, %b: tensor<4xf64>) {
  // expected-error @below {{either all operands are f64 or none, but x is 'tensor<2x5x4xf32>' and another 'tensor<4xf64>'}}
  %0 = linrec.gate softplus %x bias(%b) : (tensor<2x5x4xf32>, tensor<4xf64>) -> tensor<2x5x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x5x4xbf16>) {
  // expected-error @below {{the result must be 'tensor<2x5x4xf32>', but is 'tensor<2x5x4xbf16>'}}
  %0 = linrec.gate softplus %x : (tensor<2x5x4xbf16>) -> tensor<2x5x4xbf16>
  return
}
