// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%s: f32, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = linalg.fill ins(%s : f32) outs(%o : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

func.func @df(%s: f32, %o: tensor<4x6xf32>, %g: tensor<4x6xf32>) -> f32 {
  %y, %ds = ad.vjp @f(%s, %o) cotangents(%g) wrt [0]
      : (f32, tensor<4x6xf32>) -> (tensor<4x6xf32>, f32)
  return %ds : f32
}

// CHECK-DAG: #[[MAP:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[MAP1:.+]] = affine_map<(d0, d1) -> ()>
// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: f32, %[[ARG1:.+]]: tensor<4x6xf32>, %[[ARG2:.+]]: tensor<4x6xf32>) -> f32
// CHECK: %[[V0:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[V1:.+]] = tensor.empty() : tensor<f32>
// CHECK: %[[V2:.+]] = linalg.fill ins(%[[V0]] : f32) outs(%[[V1]] : tensor<f32>) -> tensor<f32>
// CHECK: %[[V3:.+]] = linalg.generic {indexing_maps = [#[[MAP]], #[[MAP1]]], iterator_types = ["reduction", "reduction"]} ins(%[[ARG2]] : tensor<4x6xf32>) outs(%[[V2]] : tensor<f32>) {
// CHECK: ^bb0(%[[V4:.+]]: f32, %[[V5:.+]]: f32):
// CHECK: %[[V6:.+]] = arith.addf %[[V5]], %[[V4]] : f32
// CHECK: linalg.yield %[[V6]] : f32
// CHECK: } -> tensor<f32>
// CHECK: %[[V7:.+]] = tensor.extract %[[V3]][] : tensor<f32>
// CHECK: return %[[V7]] : f32
