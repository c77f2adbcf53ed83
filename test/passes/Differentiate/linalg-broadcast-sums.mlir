// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: tensor<6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = linalg.broadcast ins(%x : tensor<6xf32>) outs(%o : tensor<4x6xf32>) dimensions = [0]
  return %y : tensor<4x6xf32>
}

func.func @df(%x: tensor<6xf32>, %o: tensor<4x6xf32>, %g: tensor<4x6xf32>) -> tensor<6xf32> {
  %y, %dx = ad.vjp @f(%x, %o) cotangents(%g) wrt [0]
      : (tensor<6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>)
  return %dx : tensor<6xf32>
}

// CHECK-DAG: #[[MAP:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[MAP1:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<6xf32>, %[[ARG1:.+]]: tensor<4x6xf32>, %[[ARG2:.+]]: tensor<4x6xf32>) -> tensor<6xf32>
// CHECK: %[[V0:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[V1:.+]] = tensor.empty() : tensor<6xf32>
// CHECK: %[[V2:.+]] = linalg.fill ins(%[[V0]] : f32) outs(%[[V1]] : tensor<6xf32>) -> tensor<6xf32>
// CHECK: %[[V3:.+]] = linalg.generic {indexing_maps = [#[[MAP]], #[[MAP1]]], iterator_types = ["reduction", "parallel"]} ins(%[[ARG2]] : tensor<4x6xf32>) outs(%[[V2]] : tensor<6xf32>) {
// CHECK: ^bb0(%[[V4:.+]]: f32, %[[V5:.+]]: f32):
// CHECK: %[[V6:.+]] = arith.addf %[[V5]], %[[V4]] : f32
// CHECK: linalg.yield %[[V6]] : f32
// CHECK: } -> tensor<6xf32>
// CHECK: return %[[V3]] : tensor<6xf32>
