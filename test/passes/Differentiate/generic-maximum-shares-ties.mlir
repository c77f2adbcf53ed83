// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Equal maxima share the cotangent evenly, as in PyTorch.

func.func private @f(%x: tensor<4x6xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x6xf32>)
      outs(%o : tensor<4xf32>) {
    ^bb0(%p: f32, %r: f32):
      %m = arith.maximumf %p, %r : f32
      linalg.yield %m : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @df(%x: tensor<4x6xf32>, %o: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4x6xf32> {
  %y, %dx = ad.vjp @f(%x, %o) cotangents(%g) wrt [0]
      : (tensor<4x6xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4x6xf32>)
  return %dx : tensor<4x6xf32>
}

// CHECK-DAG: #[[MAP:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[MAP1:.+]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x6xf32>, %[[ARG1:.+]]: tensor<4xf32>, %[[ARG2:.+]]: tensor<4xf32>) -> tensor<4x6xf32>
// CHECK: %[[V0:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[V1:.+]] = linalg.generic {indexing_maps = [#[[MAP]], #[[MAP1]]], iterator_types = ["parallel", "reduction"]} ins(%[[ARG0]] : tensor<4x6xf32>) outs(%[[ARG1]] : tensor<4xf32>) {
// CHECK: ^bb0(%[[V2:.+]]: f32, %[[V3:.+]]: f32):
// CHECK: %[[V4:.+]] = arith.maximumf %[[V2]], %[[V3]] : f32
// CHECK: linalg.yield %[[V4]] : f32
// CHECK: } -> tensor<4xf32>
// CHECK: %[[V5:.+]] = arith.cmpf oeq, %[[ARG1]], %[[V1]] : tensor<4xf32>
// CHECK: %[[V6:.+]] = arith.uitofp %[[V5]] : tensor<4xi1> to tensor<4xf32>
// CHECK: %[[V7:.+]] = linalg.generic {indexing_maps = [#[[MAP]], #[[MAP1]], #[[MAP1]]], iterator_types = ["parallel", "reduction"]} ins(%[[ARG0]], %[[V1]] : tensor<4x6xf32>, tensor<4xf32>) outs(%[[V6]] : tensor<4xf32>) {
// CHECK: ^bb0(%[[V2]]: f32, %[[V8:.+]]: f32, %[[V3]]: f32):
// CHECK: %[[V4]] = arith.cmpf oeq, %[[V2]], %[[V8]] : f32
// CHECK: %[[V9:.+]] = arith.uitofp %[[V4]] : i1 to f32
// CHECK: %[[V10:.+]] = arith.addf %[[V3]], %[[V9]] : f32
// CHECK: linalg.yield %[[V10]] : f32
// CHECK: } -> tensor<4xf32>
// CHECK: %[[V11:.+]] = arith.divf %[[ARG2]], %[[V7]] : tensor<4xf32>
// CHECK: %[[V12:.+]] = tensor.empty() : tensor<4x6xf32>
// CHECK: %[[V13:.+]] = linalg.generic {indexing_maps = [#[[MAP]], #[[MAP1]], #[[MAP1]], #[[MAP]]], iterator_types = ["parallel", "parallel"]} ins(%[[ARG0]], %[[V1]], %[[V11]] : tensor<4x6xf32>, tensor<4xf32>, tensor<4xf32>) outs(%[[V12]] : tensor<4x6xf32>) {
// CHECK: ^bb0(%[[V2]]: f32, %[[V8]]: f32, %[[V14:.+]]: f32, %[[V3]]: f32):
// CHECK: %[[V4]] = arith.cmpf oeq, %[[V2]], %[[V8]] : f32
// CHECK: %[[V9]] = arith.select %[[V4]], %[[V14]], %[[V0]] : f32
// CHECK: linalg.yield %[[V9]] : f32
// CHECK: } -> tensor<4x6xf32>
// CHECK: return %[[V13]] : tensor<4x6xf32>
