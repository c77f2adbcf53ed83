// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

#layout = #tile.layout<registers = [1:1], lanes = [0:1, 0:2, 0:4, 0:8], warps = []>
func.func @lanes_missing(%x: tensor<16x2xf32>) {
  // expected-error @+1 {{has a tile whose layout has 4 bits of the lane, not 5}}
  %0 = tile.convert %x : tensor<16x2xf32> -> tensor<16x2xf32, #layout>
  return
}

// -----

#layout = #tile.layout<registers = [], lanes = [0:1, 0:2, 0:4, 0:8, 2:1], warps = []>
func.func @dimension(%x: tensor<16x1xf32>) {
  // expected-error @+1 {{has a tile whose layout names dimension 2 of a tile of rank 2}}
  %0 = tile.convert %x : tensor<16x1xf32> -> tensor<16x1xf32, #layout>
  return
}

// -----

#layout = #tile.layout<registers = [], lanes = [0:1, 0:2, 0:4, 0:8, 1:1*3], warps = []>
func.func @lane_of_three_values(%x: tensor<16x3xf32>) {
  // expected-error @+1 {{has a tile whose layout gives a lane or a warp a digit of 3 values: it has bits}}
  %0 = tile.convert %x : tensor<16x3xf32> -> tensor<16x3xf32, #layout>
  return
}

// -----

#layout = #tile.layout<registers = [?], lanes = [0:1, 0:2, 0:4, 0:8, 1:1], warps = []>
func.func @replicated_registers(%x: tensor<16x2xf32>) {
  // expected-error @+1 {{has a tile whose layout replicates registers}}
  %0 = tile.convert %x : tensor<16x2xf32> -> tensor<16x2xf32, #layout>
  return
}

// -----

#layout = #tile.layout<registers = [], lanes = [0:1, 0:2, 0:4, 0:16, 1:1], warps = []>
func.func @gap(%x: tensor<16x2xf32>) {
  // expected-error @+1 {{has a tile whose layout has no digit of stride 8 along dimension 0}}
  %0 = tile.convert %x : tensor<16x2xf32> -> tensor<16x2xf32, #layout>
  return
}

// -----

#layout = #tile.layout<registers = [1:2], lanes = [0:1, 0:2, 0:4, 0:8, 1:1], warps = []>
func.func @too_small(%x: tensor<17x4xf32>) {
  // expected-error @+1 {{has a tile whose layout holds 16 of the 17 elements along dimension 0}}
  %0 = tile.convert %x : tensor<17x4xf32> -> tensor<17x4xf32, #layout>
  return
}
