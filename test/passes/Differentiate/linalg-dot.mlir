// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<f32>) -> tensor<f32> {
  %y = linalg.dot ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%c : tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

func.func @df(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<f32>, %g: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y, %da, %db = ad.vjp @f(%a, %b, %c) cotangents(%g) wrt [0, 1]
      : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<f32>, tensor<4xf32>, tensor<4xf32>)
  return %da, %db : tensor<4xf32>, tensor<4xf32>
}

// CHECK-DAG: #[[MAP:.+]] = affine_map<(d0) -> (d0)>
// CHECK-DAG: #[[MAP1:.+]] = affine_map<(d0) -> ()>
// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4xf32>, %[[ARG1:.+]]: tensor<4xf32>, %[[ARG2:.+]]: tensor<f32>, %[[ARG3:.+]]: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK: %[[V0:.+]] = tensor.empty() : tensor<4xf32>
// CHECK: %[[V1:.+]]:2 = linalg.generic {indexing_maps = [#[[MAP]], #[[MAP]], #[[MAP1]], #[[MAP]], #[[MAP]]], iterator_types = ["parallel"]} ins(%[[ARG0]], %[[ARG1]], %[[ARG3]] : tensor<4xf32>, tensor<4xf32>, tensor<f32>) outs(%[[V0]], %[[V0]] : tensor<4xf32>, tensor<4xf32>) {
// CHECK: ^bb0(%[[V2:.+]]: f32, %[[V3:.+]]: f32, %[[V4:.+]]: f32, %[[V5:.+]]: f32, %[[V6:.+]]: f32):
// CHECK: %[[V7:.+]] = arith.mulf %[[V4]], %[[V3]] : f32
// CHECK: %[[V8:.+]] = arith.mulf %[[V4]], %[[V2]] : f32
// CHECK: linalg.yield %[[V7]], %[[V8]] : f32, f32
// CHECK: } -> (tensor<4xf32>, tensor<4xf32>)
// CHECK: return %[[V1]]#0, %[[V1]]#1 : tensor<4xf32>, tensor<4xf32>
