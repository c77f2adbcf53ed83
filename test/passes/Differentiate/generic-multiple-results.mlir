// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The form that this pass emits can be differentiated again.

func.func private @f(%x: tensor<4x6xf32>, %o: tensor<4x6xf32>, %p: tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>) {
  %y0, %y1 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (j)>],
      iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<4x6xf32>)
      outs(%o, %p : tensor<4x6xf32>, tensor<6xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %e = math.exp %a : f32
      %s = arith.addf %c, %e : f32
      linalg.yield %e, %s : f32, f32
  } -> (tensor<4x6xf32>, tensor<6xf32>)
  return %y0, %y1 : tensor<4x6xf32>, tensor<6xf32>
}

func.func @df(%x: tensor<4x6xf32>, %o: tensor<4x6xf32>, %p: tensor<6xf32>, %g0: tensor<4x6xf32>, %g1: tensor<6xf32>) -> tensor<4x6xf32> {
  %y0, %y1, %dx = ad.vjp @f(%x, %o, %p) cotangents(%g0, %g1) wrt [0]
      : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<4x6xf32>)
  return %dx : tensor<4x6xf32>
}

// CHECK-DAG: #[[MAP:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[MAP1:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x6xf32>, %[[ARG1:.+]]: tensor<4x6xf32>, %[[ARG2:.+]]: tensor<6xf32>, %[[ARG3:.+]]: tensor<4x6xf32>, %[[ARG4:.+]]: tensor<6xf32>) -> tensor<4x6xf32>
// CHECK: %[[V0:.+]] = tensor.empty() : tensor<4x6xf32>
// CHECK: %[[V1:.+]] = linalg.generic {indexing_maps = [#[[MAP]], #[[MAP]], #[[MAP1]], #[[MAP]]], iterator_types = ["parallel", "parallel"]} ins(%[[ARG0]], %[[ARG3]], %[[ARG4]] : tensor<4x6xf32>, tensor<4x6xf32>, tensor<6xf32>) outs(%[[V0]] : tensor<4x6xf32>) {
// CHECK: ^bb0(%[[V2:.+]]: f32, %[[V3:.+]]: f32, %[[V4:.+]]: f32, %[[V5:.+]]: f32):
// CHECK: %[[V6:.+]] = math.exp %[[V2]] : f32
// CHECK: %[[V7:.+]] = arith.addf %[[V3]], %[[V4]] : f32
// CHECK: %[[V8:.+]] = arith.mulf %[[V7]], %[[V6]] : f32
// CHECK: linalg.yield %[[V8]] : f32
// CHECK: } -> tensor<4x6xf32>
// CHECK: return %[[V1]] : tensor<4x6xf32>
