// RUN: drawloom-opt %s --fuse-rows --canonicalize --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Each of the eight outer steps adds the rows of a tile, whatever their number
// is: the program for eleven rows has the tiles of that for any number.
// CHECK-LABEL: func.func @sum
// CHECK: scf.for
// CHECK:   tensor.extract_slice {{.*}}[4, 8, 4] [1, 1, 1] : tensor<11x8x4xf32> to tensor<4x8x4xf32>
// CHECK: scf.for
// CHECK:   tensor.extract_slice {{.*}}[1, 8, 4] [1, 1, 1] : tensor<11x8x4xf32> to tensor<1x8x4xf32>
func.func @sum(%x: tensor<11x8x4xf32> {drawloom.given_dims = array<i64: 0>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (j, i, k)>, affine_map<(i, j, k) -> ()>], iterator_types = ["reduction", "reduction", "reduction"]} ins(%x : tensor<11x8x4xf32>) outs(%start : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}
