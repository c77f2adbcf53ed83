// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%a: tensor<4x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = linalg.map { math.exp } ins(%a : tensor<4x6xf32>) outs(%o : tensor<4x6xf32>)
  return %y : tensor<4x6xf32>
}

func.func @df(%a: tensor<4x6xf32>, %o: tensor<4x6xf32>, %g: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y, %da = ad.vjp @f(%a, %o) cotangents(%g) wrt [0]
      : (tensor<4x6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
  return %da : tensor<4x6xf32>
}

// CHECK-DAG: #[[MAP:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x6xf32>, %[[ARG1:.+]]: tensor<4x6xf32>, %[[ARG2:.+]]: tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK: %[[V0:.+]] = tensor.empty() : tensor<4x6xf32>
// CHECK: %[[V1:.+]] = linalg.generic {indexing_maps = [#[[MAP]], #[[MAP]], #[[MAP]]], iterator_types = ["parallel", "parallel"]} ins(%[[ARG0]], %[[ARG2]] : tensor<4x6xf32>, tensor<4x6xf32>) outs(%[[V0]] : tensor<4x6xf32>) {
// CHECK: ^bb0(%[[V2:.+]]: f32, %[[V3:.+]]: f32, %[[V4:.+]]: f32):
// CHECK: %[[V5:.+]] = math.exp %[[V2]] : f32
// CHECK: %[[V6:.+]] = arith.mulf %[[V3]], %[[V5]] : f32
// CHECK: linalg.yield %[[V6]] : f32
// CHECK: } -> tensor<4x6xf32>
// CHECK: return %[[V1]] : tensor<4x6xf32>
