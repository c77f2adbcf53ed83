// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

#rows = #tile.layout<registers = [1:1, 0:1*8], lanes = [1:2, 1:4, 1:8, 0:8, 0:16], warps = []>
#row = #tile.layout<registers = [0:1*16], lanes = [?, ?, ?, ?, ?], warps = []>
func.func @other_registers(%x: tensor<32x16xf32, #rows>) {
  // expected-error @+1 {{gives 'tensor<16xf32, #tile.layout<registers = [0:1], lanes = [0:2, 0:4, 0:8, ?, ?], warps = []>>', not 'tensor<16xf32, #tile.layout<registers = [0:1*16], lanes = [?, ?, ?, ?, ?], warps = []>>'}}
  %0 = tile.reduce add %x along [0] : tensor<32x16xf32, #rows> -> tensor<16xf32, #row>
  return
}

// -----

#rows = #tile.layout<registers = [1:1, 0:1*8], lanes = [1:2, 1:4, 1:8, 0:8, 0:16], warps = []>
func.func @none(%x: tensor<32x16xf32, #rows>) {
  // expected-error @+1 {{has a layout on one side only}}
  %0 = tile.reduce add %x along [0] : tensor<32x16xf32, #rows> -> tensor<16xf32>
  return
}

// -----

// A thread's own share stays with its lane.
#rows = #tile.layout<registers = [1:1, 0:1*8], lanes = [1:2, 1:4, 1:8, 0:8, 0:16], warps = []>
#row = #tile.layout<registers = [1:1], lanes = [1:2, 1:4, 1:8, ?, ?], warps = []>
func.func @within_thread(%x: tensor<32x16xf32, #rows>) {
  // expected-error @+1 {{gives 'tensor<1x16xf32, #tile.layout<registers = [1:1], lanes = [1:2, 1:4, 1:8, 0:1, 0:2], warps = []>>', not}}
  %0 = tile.reduce add within_thread %x along [0] : tensor<32x16xf32, #rows> -> tensor<1x16xf32, #row>
  return
}

// -----

#rows = #tile.layout<registers = [1:1, 0:1*8], lanes = [1:2, 1:4, 1:8, 0:8, 0:16], warps = []>
#shares = #tile.layout<registers = [1:1], lanes = [1:2, 1:4, 1:8, 0:1, 0:2], warps = []>
func.func @right(%x: tensor<32x16xf32, #rows>) {
  %0 = tile.reduce add within_thread %x along [0] : tensor<32x16xf32, #rows> -> tensor<4x16xf32, #shares>
  return
}

// -----

func.func @no_such_dimension(%x: tensor<16x64xf32>) {
  // expected-error @+1 {{cannot use dimension 2 of the source}}
  %0 = tile.reduce add %x along [2] : tensor<16x64xf32> -> tensor<16x64xf32>
  return
}
