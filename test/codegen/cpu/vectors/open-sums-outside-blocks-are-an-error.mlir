// RUN: drawloom-opt %s --cpu-tile-and-vectorize -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Where the extents are known, the sum is one of vectors, and rounds otherwise.
func.func @sum(%x: tensor<?x?xf32> {drawloom.extents = array<i64: 0, 1>}) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  // expected-error@+1 {{is in no block program, and has an open extent; give the function's arguments static shapes}}
  %y = linalg.reduce { arith.addf } ins(%x : tensor<?x?xf32>) outs(%zero : tensor<f32>) dimensions = [0, 1]
  return %y : tensor<f32>
}

// -----

// The sums of blocks are added in their order, however many there are.
func.func @blocks(%x: tensor<?x4xf32> {drawloom.extents = array<i64: 0, -1>}) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>],
    iterator_types = ["reduction", "parallel"]
  } ins(%x : tensor<?x4xf32>) outs(%zero : tensor<4xf32>) attrs = {drawloom.in_order} {
  ^bb0(%in: f32, %sum: f32):
    %next = arith.addf %in, %sum : f32
    linalg.yield %next : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
