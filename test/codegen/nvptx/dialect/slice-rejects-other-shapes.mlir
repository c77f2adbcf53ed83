// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<16x64xf32>) {
  // expected-error @+1 {{cannot have a result of type 'tensor<16xf32>'}}
  %0 = tile.slice %x at 3 along 0 : tensor<16x64xf32> -> tensor<16xf32>
  return
}

// -----

func.func @f(%x: tensor<16x64xf32>) {
  // expected-error @+1 {{reads coordinate 16 of an extent of 16}}
  %0 = tile.slice %x at 16 along 0 : tensor<16x64xf32> -> tensor<64xf32>
  return
}

// -----

func.func @f(%x: tensor<16x64xf32>) {
  // expected-error @+1 {{cannot use dimension 2 of the source}}
  %0 = tile.slice %x at 3 along 2 : tensor<16x64xf32> -> tensor<64xf32>
  return
}
