// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: tensor<4x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x6xf32>)
      outs(%o : tensor<4x6xf32>) {
    ^bb0(%p: f32, %r: f32):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i32
      %f = arith.sitofp %k : i32 to f32
      %m = arith.mulf %p, %f : f32
      linalg.yield %m : f32
  } -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

func.func @df(%x: tensor<4x6xf32>, %o: tensor<4x6xf32>, %g: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y, %dx = ad.vjp @f(%x, %o) cotangents(%g) wrt [0]
      : (tensor<4x6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
  return %dx : tensor<4x6xf32>
}

// CHECK-DAG: #[[MAP:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x6xf32>, %[[ARG1:.+]]: tensor<4x6xf32>, %[[ARG2:.+]]: tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK: %[[V0:.+]] = tensor.empty() : tensor<4x6xf32>
// CHECK: %[[V1:.+]] = linalg.generic {indexing_maps = [#[[MAP]], #[[MAP]]], iterator_types = ["parallel", "parallel"]} ins(%[[ARG2]] : tensor<4x6xf32>) outs(%[[V0]] : tensor<4x6xf32>) {
// CHECK: ^bb0(%[[V2:.+]]: f32, %[[V3:.+]]: f32):
// CHECK: %[[V4:.+]] = linalg.index 1 : index
// CHECK: %[[V5:.+]] = arith.index_cast %[[V4]] : index to i32
// CHECK: %[[V6:.+]] = arith.sitofp %[[V5]] : i32 to f32
// CHECK: %[[V7:.+]] = arith.mulf %[[V2]], %[[V6]] : f32
// CHECK: linalg.yield %[[V7]] : f32
// CHECK: } -> tensor<4x6xf32>
// CHECK: return %[[V1]] : tensor<4x6xf32>
