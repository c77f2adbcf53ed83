// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception


func.func @rejected(%x: tensor<2x4xf32>, %w: tensor<4x3xf32>) {
  // expected-error @below {{x must have shape [batch, tokens, channels...], with known numbers of channels, at least 1, but is 'tensor<2x4xf32>'}}
  %0:2 = linrec.short_conv none %x, %w : (tensor<2x4xf32>, tensor<4x3xf32>) -> (tensor<2x4xf32>, tensor<2x2xf32>)
  return
}

// -----

func.func @rejected(%x: tensor<2x4x?xf32>, %w: tensor<4x3xf32>) {
  // expected-error @below {{x must have shape [batch, tokens, channels...], with known numbers of channels, at least 1, but is 'tensor<2x4x?xf32>'}}
  %0:2 = linrec.short_conv none %x, %w : (tensor<2x4x?xf32>, tensor<4x3xf32>) -> (tensor<2x4x?xf32>, tensor<2x2x?xf32>)
  return
}

// -----

func.func @rejected(%x: tensor<2x4x6xf32>, %w: tensor<5x3xf32>) {
  // expected-error @below {{weight must have shape 6x?, but has 5x3}}
  %0:2 = linrec.short_conv none %x, %w : (tensor<2x4x6xf32>, tensor<5x3xf32>) -> (tensor<2x4x6xf32>, tensor<2x2x6xf32>)
  return
}

// -----

func.func @rejected(%x: tensor<2x4x6xf32>, %w: tensor<6x1xf32>) {
  // expected-error @below {{weight must have from 2 to 8 columns, one for each token, but is 'tensor<6x1xf32>'}}
  %0:2 = linrec.short_conv none %x, %w : (tensor<2x4x6xf32>, tensor<6x1xf32>) -> (tensor<2x4x6xf32>, tensor<2x0x6xf32>)
  return
}

// -----

func.func @rejected(%x: tensor<2x4x6xf32>, %w: tensor<6x9xf32>) {
  // expected-error @below {{weight must have from 2 to 8 columns, one for each token, but is 'tensor<6x9xf32>'}}
  %0:2 = linrec.short_conv none %x, %w : (tensor<2x4x6xf32>, tensor<6x9xf32>) -> (tensor<2x4x6xf32>, tensor<2x8x6xf32>)
  return
}

// -----

func.func @rejected(%x: tensor<2x4x6xf32>, %w: tensor<6x3xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{bias must have shape 6, but has 4}}
  %0:2 = linrec.short_conv none %x, %w bias(%b) : (tensor<2x4x6xf32>, tensor<6x3xf32>, tensor<4xf32>) -> (tensor<2x4x6xf32>, tensor<2x2x6xf32>)
  return
}

// -----

func.func @rejected(%x: tensor<2x4x6xf32>, %w: tensor<6x3xf32>, %b: tensor<6xf64>) {
  // expected-error @below {{either all operands are f64 or none, but x is 'tensor<2x4x6xf32>' and another 'tensor<6xf64>'}}
  %0:2 = linrec.short_conv none %x, %w bias(%b) : (tensor<2x4x6xf32>, tensor<6x3xf32>, tensor<6xf64>) -> (tensor<2x4x6xf32>, tensor<2x2x6xf32>)
  return
}

// -----

func.func @rejected(%x: tensor<2x4x6xbf16>, %w: tensor<6x3xf32>, %s: tensor<2x2x6xf32>) {
  // expected-error @below {{initial must be 'tensor<2x2x6xbf16>', but is 'tensor<2x2x6xf32>'}}
  %0:2 = linrec.short_conv none %x, %w initial(%s) : (tensor<2x4x6xbf16>, tensor<6x3xf32>, tensor<2x2x6xf32>) -> (tensor<2x4x6xbf16>, tensor<2x2x6xbf16>)
  return
}

// -----

func.func @rejected(%x: tensor<2x4x6xf32>, %w: tensor<6x3xf32>, %s: tensor<2x3x6xf32>) {
  // expected-error @below {{initial must be 'tensor<2x2x6xf32>', but is 'tensor<2x3x6xf32>'}}
  %0:2 = linrec.short_conv none %x, %w initial(%s) : (tensor<2x4x6xf32>, tensor<6x3xf32>, tensor<2x3x6xf32>) -> (tensor<2x4x6xf32>, tensor<2x2x6xf32>)
  return
}

// -----

func.func @rejected(%x: tensor<2x4x6xf32>, %w: tensor<6x3xf32>, %n: tensor<3xi32>) {
  // expected-error @below {{with starts, all sequences are packed into one batch entry, but there are 2}}
  %0:2 = linrec.short_conv none %x, %w starts(%n) : (tensor<2x4x6xf32>, tensor<6x3xf32>, tensor<3xi32>) -> (tensor<2x4x6xf32>, tensor<2x2x6xf32>)
  return
}

// -----

func.func @rejected(%x: tensor<2x4x6xf32>, %w: tensor<6x3xf32>) {
  // expected-error @below {{the final state must be 'tensor<2x2x6xf32>', but is 'tensor<2x3x6xf32>'}}
  %0:2 = linrec.short_conv none %x, %w : (tensor<2x4x6xf32>, tensor<6x3xf32>) -> (tensor<2x4x6xf32>, tensor<2x3x6xf32>)
  return
}

// -----

func.func @rejected(%x: tensor<2x4x6xf32>, %w: tensor<6x3xf32>) {
  // expected-error @below {{the first result must be 'tensor<2x4x6xf32>', but is 'tensor<2x4x6xf64>'}}
  %0:2 = linrec.short_conv none %x, %w : (tensor<2x4x6xf32>, tensor<6x3xf32>) -> (tensor<2x4x6xf64>, tensor<2x2x6xf32>)
  return
}

// -----

func.func @rejected(%x: tensor<2x4x6xf32>, %w: tensor<6x3xf32>, %d: tensor<2x5x6xf32>) {
  // expected-error @below {{the cotangent d_y must be 'tensor<2x4x6xf32>', but is 'tensor<2x5x6xf32>'}}
  %0:2 = linrec.short_conv_bwd none %x, %w cotangents(%d) : (tensor<2x4x6xf32>, tensor<6x3xf32>, tensor<2x5x6xf32>) -> (tensor<2x4x6xf32>, tensor<6x3xf32>)
  return
}

// -----

func.func @rejected(%x: tensor<2x4x6xf32>, %w: tensor<6x3xf32>, %d: tensor<2x4x6xf32>, %e: tensor<2x4x6xf32>) {
  // expected-error @below {{the cotangent d_final must be 'tensor<2x2x6xf32>', but is 'tensor<2x4x6xf32>'}}
  %0:2 = linrec.short_conv_bwd none %x, %w cotangents(%d, %e) : (tensor<2x4x6xf32>, tensor<6x3xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>) -> (tensor<2x4x6xf32>, tensor<6x3xf32>)
  return
}

// -----

func.func @rejected(%x: tensor<2x4x6xf32>, %w: tensor<6x3xf32>, %d: tensor<2x4x6xf32>) {
  // expected-error @below {{must have one result for each operand but starts: 2, but has 1}}
  %0 = linrec.short_conv_bwd none %x, %w cotangents(%d) : (tensor<2x4x6xf32>, tensor<6x3xf32>, tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x4x6xf32>, %w: tensor<6x3xf32>, %d: tensor<2x4x6xf32>) {
  // expected-error @below {{the gradient of an operand 'tensor<6x3xf32>' must have its type, but is 'tensor<6x2xf32>'}}
  %0:2 = linrec.short_conv_bwd none %x, %w cotangents(%d) : (tensor<2x4x6xf32>, tensor<6x3xf32>, tensor<2x4x6xf32>) -> (tensor<2x4x6xf32>, tensor<6x2xf32>)
  return
}
