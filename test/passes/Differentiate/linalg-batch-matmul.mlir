// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%a: tensor<?x8x4xf32>, %b: tensor<?x4x6xf32>, %c: tensor<?x8x6xf32>) -> tensor<?x8x6xf32> {
  %y = linalg.batch_matmul ins(%a, %b : tensor<?x8x4xf32>, tensor<?x4x6xf32>) outs(%c : tensor<?x8x6xf32>) -> tensor<?x8x6xf32>
  return %y : tensor<?x8x6xf32>
}

func.func @df(%a: tensor<?x8x4xf32>, %b: tensor<?x4x6xf32>, %c: tensor<?x8x6xf32>, %g: tensor<?x8x6xf32>) -> (tensor<?x8x4xf32>, tensor<?x4x6xf32>) {
  %y, %da, %db = ad.vjp @f(%a, %b, %c) cotangents(%g) wrt [0, 1]
      : (tensor<?x8x4xf32>, tensor<?x4x6xf32>, tensor<?x8x6xf32>) -> (tensor<?x8x6xf32>, tensor<?x8x4xf32>, tensor<?x4x6xf32>)
  return %da, %db : tensor<?x8x4xf32>, tensor<?x4x6xf32>
}

// CHECK-DAG: #[[MAP:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-DAG: #[[MAP1:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-DAG: #[[MAP2:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<?x8x4xf32>, %[[ARG1:.+]]: tensor<?x4x6xf32>, %[[ARG2:.+]]: tensor<?x8x6xf32>, %[[ARG3:.+]]: tensor<?x8x6xf32>) -> (tensor<?x8x4xf32>, tensor<?x4x6xf32>)
// CHECK: %[[V0:.+]] = arith.constant 0 : index
// CHECK: %[[V1:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[V2:.+]] = tensor.dim %[[ARG0]], %[[V0]] : tensor<?x8x4xf32>
// CHECK: %[[V3:.+]] = tensor.empty(%[[V2]]) : tensor<?x8x4xf32>
// CHECK: %[[V4:.+]] = linalg.fill ins(%[[V1]] : f32) outs(%[[V3]] : tensor<?x8x4xf32>) -> tensor<?x8x4xf32>
// CHECK: %[[V5:.+]] = linalg.contract indexing_maps = [#[[MAP]], #[[MAP1]], #[[MAP2]]] ins(%[[ARG3]], %[[ARG1]] : tensor<?x8x6xf32>, tensor<?x4x6xf32>) outs(%[[V4]] : tensor<?x8x4xf32>) -> tensor<?x8x4xf32>
// CHECK: %[[V6:.+]] = tensor.dim %[[ARG1]], %[[V0]] : tensor<?x4x6xf32>
// CHECK: %[[V7:.+]] = tensor.empty(%[[V6]]) : tensor<?x4x6xf32>
// CHECK: %[[V8:.+]] = linalg.fill ins(%[[V1]] : f32) outs(%[[V7]] : tensor<?x4x6xf32>) -> tensor<?x4x6xf32>
// CHECK: %[[V9:.+]] = linalg.contract indexing_maps = [#[[MAP]], #[[MAP2]], #[[MAP1]]] ins(%[[ARG3]], %[[ARG0]] : tensor<?x8x6xf32>, tensor<?x8x4xf32>) outs(%[[V8]] : tensor<?x4x6xf32>) -> tensor<?x4x6xf32>
// CHECK: return %[[V5]], %[[V9]] : tensor<?x8x4xf32>, tensor<?x4x6xf32>
