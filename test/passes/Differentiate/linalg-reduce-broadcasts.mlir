// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: tensor<4x6xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.reduce { arith.addf } ins(%x : tensor<4x6xf32>) outs(%o : tensor<4xf32>) dimensions = [1]
  return %y : tensor<4xf32>
}

func.func @df(%x: tensor<4x6xf32>, %o: tensor<4xf32>, %g: tensor<4xf32>) -> (tensor<4x6xf32>, tensor<4xf32>) {
  %y, %dx, %do = ad.vjp @f(%x, %o) cotangents(%g) wrt [0, 1]
      : (tensor<4x6xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4x6xf32>, tensor<4xf32>)
  return %dx, %do : tensor<4x6xf32>, tensor<4xf32>
}

// CHECK-DAG: #[[MAP:.+]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[MAP1:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x6xf32>, %[[ARG1:.+]]: tensor<4xf32>, %[[ARG2:.+]]: tensor<4xf32>) -> (tensor<4x6xf32>, tensor<4xf32>)
// CHECK: %[[V0:.+]] = tensor.empty() : tensor<4x6xf32>
// CHECK: %[[V1:.+]] = linalg.generic {indexing_maps = [#[[MAP]], #[[MAP1]]], iterator_types = ["parallel", "parallel"]} ins(%[[ARG2]] : tensor<4xf32>) outs(%[[V0]] : tensor<4x6xf32>) {
// CHECK: ^bb0(%[[V2:.+]]: f32, %[[V3:.+]]: f32):
// CHECK: linalg.yield %[[V2]] : f32
// CHECK: } -> tensor<4x6xf32>
// CHECK: return %[[V1]], %[[ARG2]] : tensor<4x6xf32>, tensor<4xf32>
