// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

#rows = #tile.layout<registers = [1:1, 0:1*8], lanes = [1:2, 1:4, 1:8, 0:8, 0:16], warps = []>
#row = #tile.layout<registers = [0:1*16], lanes = [?, ?, ?, ?, ?], warps = []>
func.func @other_registers(%x: tensor<32x16xf32, #rows>) {
  // expected-error @+1 {{gives 'tensor<16xf32, #tile.layout<registers = [0:1], lanes = [0:2, 0:4, 0:8, ?, ?], warps = []>>', not 'tensor<16xf32, #tile.layout<registers = [0:1*16], lanes = [?, ?, ?, ?, ?], warps = []>>'}}
  %0 = tile.slice %x at 13 along 0 : tensor<32x16xf32, #rows> -> tensor<16xf32, #row>
  return
}

// -----

#rows = #tile.layout<registers = [1:1, 0:1*8], lanes = [1:2, 1:4, 1:8, 0:8, 0:16], warps = []>
func.func @none(%x: tensor<32x16xf32, #rows>) {
  // expected-error @+1 {{has a layout on one side only}}
  %0 = tile.slice %x at 13 along 0 : tensor<32x16xf32, #rows> -> tensor<16xf32>
  return
}

// -----

#row = #tile.layout<registers = [], lanes = [0:1, 0:2, 0:4, 0:8, ?], warps = []>
func.func @of_none(%x: tensor<32x16xf32>) {
  // expected-error @+1 {{has a layout on one side only}}
  %0 = tile.slice %x at 13 along 0 : tensor<32x16xf32> -> tensor<16xf32, #row>
  return
}

// -----

#rows = #tile.layout<registers = [0:1*8], lanes = [1:1, 1:2, 1:4, 1:8, 0:8], warps = [0:16]>
#row = #tile.layout<registers = [], lanes = [0:1, 0:2, 0:4, 0:8, ?], warps = [?]>
func.func @across_warps(%x: tensor<32x16xf32, #rows>) {
  // expected-error @+1 {{takes one coordinate of dimension 0, of which warps hold different parts}}
  %0 = tile.slice %x at 13 along 0 : tensor<32x16xf32, #rows> -> tensor<16xf32, #row>
  return
}

// -----

// What warps tell apart along the other dimension stays.
#rows = #tile.layout<registers = [0:1*8], lanes = [1:1, 1:2, 1:4, 0:8, 0:16], warps = [1:8]>
#row = #tile.layout<registers = [], lanes = [0:1, 0:2, 0:4, ?, ?], warps = [0:8]>
func.func @right(%x: tensor<32x16xf32, #rows>) {
  %0 = tile.slice %x at 13 along 0 : tensor<32x16xf32, #rows> -> tensor<16xf32, #row>
  return
}
