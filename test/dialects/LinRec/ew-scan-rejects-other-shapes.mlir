// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception


func.func @rejected(%x: tensor<2x5x4x8xf32>) {
  // expected-error @below {{x must have three dimensions (batch, tokens, channels) and a known number of channels, at least 1, but is 'tensor<2x5x4x8xf32>'}}
  %0:2 = linrec.ew_scan %x decay(%x) : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x4xf32>)
  return
}

// -----

func.func @rejected(%x: tensor<2x5x4xf32>, %g: tensor<2x5x3xf32>) {
  // expected-error @below {{decay must have shape 2x5x4, but has 2x5x3}}
  %0:2 = linrec.ew_scan %x decay(%g) : (tensor<2x5x4xf32>, tensor<2x5x3xf32>) -> (tensor<2x5x4xf32>, tensor<2x4xf32>)
  return
}

// -----

func.func @rejected(%x: tensor<2x5x4xf32>, %a: tensor<4x8xf32>) {
  // expected-error @below {{rates, write and read come together}}
  %0:2 = linrec.ew_scan %x decay(%x) rates(%a) : (tensor<2x5x4xf32>, tensor<2x5x4xf32>, tensor<4x8xf32>) -> (tensor<2x5x4xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @rejected(%x: tensor<2x5x4xf32>, %a: tensor<8x4xf32>, %b: tensor<2x5x4xf32>) {
  // expected-error @below {{rates must have shape 4x4, but has 8x4}}
  %0:2 = linrec.ew_scan %x decay(%x) rates(%a) write(%b) read(%b) : (tensor<2x5x4xf32>, tensor<2x5x4xf32>, tensor<8x4xf32>, tensor<2x5x4xf32>, tensor<2x5x4xf32>) -> (tensor<2x5x4xf32>, tensor<2x4x4xf32>)
  return
}

// -----

func.func @rejected(%x: tensor<2x5x4xf32>, %a: tensor<4x8xf32>, %b: tensor<2x5x8xf32>, %c: tensor<2x5x7xf32>) {
  // expected-error @below {{read must have shape 2x5x8, but has 2x5x7}}
  %0:2 = linrec.ew_scan %x decay(%x) rates(%a) write(%b) read(%c) : (tensor<2x5x4xf32>, tensor<2x5x4xf32>, tensor<4x8xf32>, tensor<2x5x8xf32>, tensor<2x5x7xf32>) -> (tensor<2x5x4xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @rejected(%x: tensor<2x5x4xf32>, %s: tensor<2x5xf32>) {
  // expected-error @below {{initial must be 'tensor<2x4xf32>', but is 'tensor<2x5xf32>'}}
  %0:2 = linrec.ew_scan %x decay(%x) initial(%s) : (tensor<2x5x4xf32>, tensor<2x5x4xf32>, tensor<2x5xf32>) -> (tensor<2x5x4xf32>, tensor<2x4xf32>)
  return
}

// -----

func.func @rejected(%x: tensor<2x5x4xbf16>) {
  // expected-error @below {{the final state must be 'tensor<2x4xf32>', but is 'tensor<2x4xbf16>'}}
  %0:2 = linrec.ew_scan %x decay(%x) : (tensor<2x5x4xbf16>, tensor<2x5x4xbf16>) -> (tensor<2x5x4xbf16>, tensor<2x4xbf16>)
  return
}

// -----

func.func @rejected(%x: tensor<2x5x4xf32>, %s: tensor<3xi32>) {
  // expected-error @below {{with starts, all sequences are packed into one batch entry, but there are 2}}
  %0:2 = linrec.ew_scan %x decay(%x) starts(%s) : (tensor<2x5x4xf32>, tensor<2x5x4xf32>, tensor<3xi32>) -> (tensor<2x5x4xf32>, tensor<2x4xf32>)
  return
}
