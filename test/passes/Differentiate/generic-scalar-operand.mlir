// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: tensor<4x6xf32>, %s: f32, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> ()>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<4x6xf32>, f32)
      outs(%o : tensor<4x6xf32>) {
    ^bb0(%p: f32, %q: f32, %r: f32):
      %m = arith.mulf %p, %q : f32
      linalg.yield %m : f32
  } -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

func.func @df(%x: tensor<4x6xf32>, %s: f32, %o: tensor<4x6xf32>, %g: tensor<4x6xf32>) -> f32 {
  %y, %ds = ad.vjp @f(%x, %s, %o) cotangents(%g) wrt [1]
      : (tensor<4x6xf32>, f32, tensor<4x6xf32>) -> (tensor<4x6xf32>, f32)
  return %ds : f32
}

// CHECK-DAG: #[[MAP:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[MAP1:.+]] = affine_map<(d0, d1) -> ()>
// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x6xf32>, %[[ARG1:.+]]: f32, %[[ARG2:.+]]: tensor<4x6xf32>, %[[ARG3:.+]]: tensor<4x6xf32>) -> f32
// CHECK: %[[V0:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[V1:.+]] = tensor.empty() : tensor<f32>
// CHECK: %[[V2:.+]] = linalg.fill ins(%[[V0]] : f32) outs(%[[V1]] : tensor<f32>) -> tensor<f32>
// CHECK: %[[V3:.+]] = linalg.generic {indexing_maps = [#[[MAP]], #[[MAP]], #[[MAP1]]], iterator_types = ["reduction", "reduction"]} ins(%[[ARG0]], %[[ARG3]] : tensor<4x6xf32>, tensor<4x6xf32>) outs(%[[V2]] : tensor<f32>) {
// CHECK: ^bb0(%[[V4:.+]]: f32, %[[V5:.+]]: f32, %[[V6:.+]]: f32):
// CHECK: %[[V7:.+]] = arith.mulf %[[V5]], %[[V4]] : f32
// CHECK: %[[V8:.+]] = arith.addf %[[V6]], %[[V7]] : f32
// CHECK: linalg.yield %[[V8]] : f32
// CHECK: } -> tensor<f32>
// CHECK: %[[V9:.+]] = tensor.extract %[[V3]][] : tensor<f32>
// CHECK: return %[[V9]] : f32
