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
      %m = arith.mulf %p, %r : f32
      linalg.yield %m : f32
  } -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

func.func @df(%x: tensor<4x6xf32>, %o: tensor<4x6xf32>, %g: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %y, %dx, %do = ad.vjp @f(%x, %o) cotangents(%g) wrt [0, 1]
      : (tensor<4x6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>)
  return %dx, %do : tensor<4x6xf32>, tensor<4x6xf32>
}

// CHECK-DAG: #[[MAP:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x6xf32>, %[[ARG1:.+]]: tensor<4x6xf32>, %[[ARG2:.+]]: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
// CHECK: %[[V0:.+]] = tensor.empty() : tensor<4x6xf32>
// CHECK: %[[V1:.+]]:2 = linalg.generic {indexing_maps = [#[[MAP]], #[[MAP]], #[[MAP]], #[[MAP]], #[[MAP]]], iterator_types = ["parallel", "parallel"]} ins(%[[ARG0]], %[[ARG1]], %[[ARG2]] : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) outs(%[[V0]], %[[V0]] : tensor<4x6xf32>, tensor<4x6xf32>) {
// CHECK: ^bb0(%[[V2:.+]]: f32, %[[V3:.+]]: f32, %[[V4:.+]]: f32, %[[V5:.+]]: f32, %[[V6:.+]]: f32):
// CHECK: %[[V7:.+]] = arith.mulf %[[V4]], %[[V3]] : f32
// CHECK: %[[V8:.+]] = arith.mulf %[[V4]], %[[V2]] : f32
// CHECK: linalg.yield %[[V7]], %[[V8]] : f32, f32
// CHECK: } -> (tensor<4x6xf32>, tensor<4x6xf32>)
// CHECK: return %[[V1]]#0, %[[V1]]#1 : tensor<4x6xf32>, tensor<4x6xf32>
