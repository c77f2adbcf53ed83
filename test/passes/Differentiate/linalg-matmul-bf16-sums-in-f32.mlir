// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Gradients are rounded to the type of the operand once, at the end.

func.func private @f(%a: tensor<8x4xbf16>, %b: tensor<4x6xbf16>, %c: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %y = linalg.matmul ins(%a, %b : tensor<8x4xbf16>, tensor<4x6xbf16>) outs(%c : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}

func.func @df(%a: tensor<8x4xbf16>, %b: tensor<4x6xbf16>, %c: tensor<8x6xf32>, %g: tensor<8x6xf32>) -> (tensor<8x4xbf16>, tensor<4x6xbf16>) {
  %y, %da, %db = ad.vjp @f(%a, %b, %c) cotangents(%g) wrt [0, 1]
      : (tensor<8x4xbf16>, tensor<4x6xbf16>, tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<8x4xbf16>, tensor<4x6xbf16>)
  return %da, %db : tensor<8x4xbf16>, tensor<4x6xbf16>
}

// CHECK-DAG: #[[MAP:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[MAP1:.+]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[MAP2:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<8x4xbf16>, %[[ARG1:.+]]: tensor<4x6xbf16>, %[[ARG2:.+]]: tensor<8x6xf32>, %[[ARG3:.+]]: tensor<8x6xf32>) -> (tensor<8x4xbf16>, tensor<4x6xbf16>)
// CHECK: %[[V0:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[V1:.+]] = tensor.empty() : tensor<8x4xf32>
// CHECK: %[[V2:.+]] = linalg.fill ins(%[[V0]] : f32) outs(%[[V1]] : tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK: %[[V3:.+]] = linalg.contract indexing_maps = [#[[MAP]], #[[MAP1]], #[[MAP2]]] ins(%[[ARG3]], %[[ARG1]] : tensor<8x6xf32>, tensor<4x6xbf16>) outs(%[[V2]] : tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK: %[[V4:.+]] = arith.truncf %[[V3]] : tensor<8x4xf32> to tensor<8x4xbf16>
// CHECK: %[[V5:.+]] = tensor.empty() : tensor<4x6xf32>
// CHECK: %[[V6:.+]] = linalg.fill ins(%[[V0]] : f32) outs(%[[V5]] : tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK: %[[V7:.+]] = linalg.contract indexing_maps = [#[[MAP]], #[[MAP2]], #[[MAP1]]] ins(%[[ARG3]], %[[ARG0]] : tensor<8x6xf32>, tensor<8x4xbf16>) outs(%[[V6]] : tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK: %[[V8:.+]] = arith.truncf %[[V7]] : tensor<4x6xf32> to tensor<4x6xbf16>
// CHECK: return %[[V4]], %[[V8]] : tensor<8x4xbf16>, tensor<4x6xbf16>
