// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// An operand that is broadcast along a loop gets the sum over that loop.

func.func private @f(%x: tensor<4x6xf32>, %b: tensor<6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<4x6xf32>, tensor<6xf32>)
      outs(%o : tensor<4x6xf32>) {
    ^bb0(%p: f32, %q: f32, %r: f32):
      %m = arith.mulf %p, %q : f32
      linalg.yield %m : f32
  } -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

func.func @df(%x: tensor<4x6xf32>, %b: tensor<6xf32>, %o: tensor<4x6xf32>, %g: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>) {
  %y, %dx, %db = ad.vjp @f(%x, %b, %o) cotangents(%g) wrt [0, 1]
      : (tensor<4x6xf32>, tensor<6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<6xf32>)
  return %dx, %db : tensor<4x6xf32>, tensor<6xf32>
}

// CHECK-DAG: #[[MAP:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[MAP1:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x6xf32>, %[[ARG1:.+]]: tensor<6xf32>, %[[ARG2:.+]]: tensor<4x6xf32>, %[[ARG3:.+]]: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>)
// CHECK: %[[V0:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[V1:.+]] = tensor.empty() : tensor<4x6xf32>
// CHECK: %[[V2:.+]] = tensor.empty() : tensor<6xf32>
// CHECK: %[[V3:.+]] = linalg.fill ins(%[[V0]] : f32) outs(%[[V2]] : tensor<6xf32>) -> tensor<6xf32>
// CHECK: %[[V4:.+]]:2 = linalg.generic {indexing_maps = [#[[MAP]], #[[MAP1]], #[[MAP]], #[[MAP]], #[[MAP1]]], iterator_types = ["reduction", "parallel"]} ins(%[[ARG0]], %[[ARG1]], %[[ARG3]] : tensor<4x6xf32>, tensor<6xf32>, tensor<4x6xf32>) outs(%[[V1]], %[[V3]] : tensor<4x6xf32>, tensor<6xf32>) {
// CHECK: ^bb0(%[[V5:.+]]: f32, %[[V6:.+]]: f32, %[[V7:.+]]: f32, %[[V8:.+]]: f32, %[[V9:.+]]: f32):
// CHECK: %[[V10:.+]] = arith.mulf %[[V7]], %[[V6]] : f32
// CHECK: %[[V11:.+]] = arith.mulf %[[V7]], %[[V5]] : f32
// CHECK: %[[V12:.+]] = arith.addf %[[V9]], %[[V11]] : f32
// CHECK: linalg.yield %[[V10]], %[[V12]] : f32, f32
// CHECK: } -> (tensor<4x6xf32>, tensor<6xf32>)
// CHECK: return %[[V4]]#0, %[[V4]]#1 : tensor<4x6xf32>, tensor<6xf32>
