// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// linalg.contract must contract a loop; the outer product is a linalg.generic.

func.func private @f(%a: tensor<8x4xf32>, %b: tensor<4xf32>, %c: tensor<8xf32>) -> tensor<8xf32> {
  %y = linalg.matvec ins(%a, %b : tensor<8x4xf32>, tensor<4xf32>) outs(%c : tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

func.func @df(%a: tensor<8x4xf32>, %b: tensor<4xf32>, %c: tensor<8xf32>, %g: tensor<8xf32>) -> (tensor<8x4xf32>, tensor<4xf32>) {
  %y, %da, %db = ad.vjp @f(%a, %b, %c) cotangents(%g) wrt [0, 1]
      : (tensor<8x4xf32>, tensor<4xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8x4xf32>, tensor<4xf32>)
  return %da, %db : tensor<8x4xf32>, tensor<4xf32>
}

// CHECK-DAG: #[[MAP:.+]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[MAP1:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[MAP2:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<8x4xf32>, %[[ARG1:.+]]: tensor<4xf32>, %[[ARG2:.+]]: tensor<8xf32>, %[[ARG3:.+]]: tensor<8xf32>) -> (tensor<8x4xf32>, tensor<4xf32>)
// CHECK: %[[V0:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[V1:.+]] = tensor.empty() : tensor<4xf32>
// CHECK: %[[V2:.+]] = linalg.fill ins(%[[V0]] : f32) outs(%[[V1]] : tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[V3:.+]] = linalg.contract indexing_maps = [#[[MAP]], #[[MAP1]], #[[MAP2]]] ins(%[[ARG3]], %[[ARG0]] : tensor<8xf32>, tensor<8x4xf32>) outs(%[[V2]] : tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[V4:.+]] = tensor.empty() : tensor<8x4xf32>
// CHECK: %[[V5:.+]] = linalg.generic {indexing_maps = [#[[MAP2]], #[[MAP]], #[[MAP1]]], iterator_types = ["parallel", "parallel"]} ins(%[[ARG1]], %[[ARG3]] : tensor<4xf32>, tensor<8xf32>) outs(%[[V4]] : tensor<8x4xf32>) {
// CHECK: ^bb0(%[[V6:.+]]: f32, %[[V7:.+]]: f32, %[[V8:.+]]: f32):
// CHECK: %[[V9:.+]] = arith.mulf %[[V7]], %[[V6]] : f32
// CHECK: linalg.yield %[[V9]] : f32
// CHECK: } -> tensor<8x4xf32>
// CHECK: return %[[V5]], %[[V3]] : tensor<8x4xf32>, tensor<4xf32>
