// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --merge-elementwise | FileCheck %s

// Both have some number of rows, but nothing says that it is the same: what they both read has none.
// CHECK-LABEL: @f(
// CHECK-COUNT-2: linalg.generic
func.func @f(%n: index, %row: tensor<4xf32>, %x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %some = tensor.empty(%n) : tensor<?x4xf32>
  %repeated = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%row : tensor<4xf32>) outs(%some : tensor<?x4xf32>) {
  ^bb0(%r: f32, %out: f32):
    %e = math.exp %r : f32
    linalg.yield %e : f32
  } -> tensor<?x4xf32>
  %m = tensor.dim %x, %c0 : tensor<?x4xf32>
  %others = tensor.empty(%m) : tensor<?x4xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %row : tensor<?x4xf32>, tensor<4xf32>) outs(%others : tensor<?x4xf32>) {
  ^bb0(%a: f32, %r: f32, %out: f32):
    %s = arith.addf %a, %r : f32
    linalg.yield %s : f32
  } -> tensor<?x4xf32>
  return %repeated, %sum : tensor<?x4xf32>, tensor<?x4xf32>
}
