// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-block-to-tile -split-input-file -verify-diagnostics

func.func @pads_in_front(%x: tensor<8xf32>) -> tensor<9xf32> attributes {drawloom.kernel} {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{only pads of zeros at the end, to a static shape, have a form on a GPU yet}}
  %y = tensor.pad %x low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<8xf32> to tensor<9xf32>
  return %y : tensor<9xf32>
}

// -----

func.func @concatenates(%x: tensor<?xf32>) -> tensor<?xf32> attributes {drawloom.kernel} {
  // expected-error @+1 {{a concatenation of unknown extents, 'tensor<?xf32>', has no form on a GPU yet}}
  %y = tensor.concat dim(0) %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

func.func @adds_rows(%t: tensor<4x8xf32>, %rows: tensor<4xi32>, %y: tensor<9x8xf32>) -> tensor<9x8xf32> attributes {drawloom.kernel} {
  // expected-error @+1 {{adding rows in order has no form on a GPU yet}}
  %z = block.scatter accumulate %t into %y[%rows] : tensor<4x8xf32> into tensor<9x8xf32>[tensor<4xi32>]
  return %z : tensor<9x8xf32>
}

// -----

func.func @unknown_extents(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> attributes {drawloom.kernel} {
  // expected-error @+1 {{a tile of unknown extents, 'tensor<?xf32>', cannot be computed on: gather it to a static shape}}
  %part = tensor.extract_slice %x[0] [%n] [1] : tensor<8xf32> to tensor<?xf32>
  %twice = arith.addf %part, %part : tensor<?xf32>
  return %x : tensor<8xf32>
}

// -----

func.func @copy_of_unknown_extents(%x: tensor<8xf32>, %n: index, %v: f32) -> tensor<8xf32> attributes {drawloom.kernel} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{a copy of unknown extents, 'tensor<?xf32>', has no place in shared memory}}
  %part = tensor.extract_slice %x[0] [%n] [1] : tensor<8xf32> to tensor<?xf32>
  %changed = tensor.insert %v into %part[%c0] : tensor<?xf32>
  return %x : tensor<8xf32>
}
