// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

func.func @f(%a: tensor<16x16xbf16>, %b: tensor<16x8xbf16>, %c: tensor<16x8xf32>) {
  // expected-error@+1 {{rounds operands to tf32 that are not f32}}
  %d = tile.dot %a, %b, %c {tf32} : tensor<16x16xbf16>, tensor<16x8xbf16>, tensor<16x8xf32>
  return
}

// -----

func.func @f(%a: tensor<16x16xbf16>, %b: tensor<16x8xbf16>, %c: tensor<16x8xf32>) {
  // expected-error@+1 {{cannot leave 3 columns in a thread}}
  %d = tile.dot %a, %b, %c {neighbours = 3 : i64} : tensor<16x16xbf16>, tensor<16x8xbf16>, tensor<16x8xf32>
  return
}

// -----

func.func @f(%a: tensor<16x16xbf16>, %b: tensor<32x8xbf16>, %c: tensor<16x8xf32>) {
  // expected-error@+1 {{multiplies parts of 'tensor<16x16xbf16>' that are no whole instructions}}
  %d = tile.dot %a, %b, %c {batch = 2 : i64} : tensor<16x16xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
  return
}

// -----

func.func @f(%a: tensor<32x16xbf16>, %b: tensor<16x8xbf16>, %c: tensor<32x8xf32>) {
  // expected-error@+1 {{multiplies 'tensor<32x16xbf16>' by 'tensor<16x8xbf16>' into 'tensor<32x8xf32>'}}
  %d = tile.dot %a, %b, %c {batch = 2 : i64} : tensor<32x16xbf16>, tensor<16x8xbf16>, tensor<32x8xf32>
  return
}
