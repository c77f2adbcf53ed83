// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: tensor<4x6xbf16>, %b: tensor<6xbf16>, %o: tensor<4x6xbf16>) -> tensor<4x6xbf16> {
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<4x6xbf16>, tensor<6xbf16>)
      outs(%o : tensor<4x6xbf16>) {
    ^bb0(%p: bf16, %q: bf16, %r: bf16):
      %m = arith.addf %p, %q : bf16
      linalg.yield %m : bf16
  } -> tensor<4x6xbf16>
  return %y : tensor<4x6xbf16>
}

func.func @df(%x: tensor<4x6xbf16>, %b: tensor<6xbf16>, %o: tensor<4x6xbf16>, %g: tensor<4x6xbf16>) -> tensor<6xbf16> {
  %y, %db = ad.vjp @f(%x, %b, %o) cotangents(%g) wrt [1]
      : (tensor<4x6xbf16>, tensor<6xbf16>, tensor<4x6xbf16>) -> (tensor<4x6xbf16>, tensor<6xbf16>)
  return %db : tensor<6xbf16>
}

// CHECK-DAG: #[[MAP:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[MAP1:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x6xbf16>, %[[ARG1:.+]]: tensor<6xbf16>, %[[ARG2:.+]]: tensor<4x6xbf16>, %[[ARG3:.+]]: tensor<4x6xbf16>) -> tensor<6xbf16>
// CHECK: %[[V0:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[V1:.+]] = tensor.empty() : tensor<6xf32>
// CHECK: %[[V2:.+]] = linalg.fill ins(%[[V0]] : f32) outs(%[[V1]] : tensor<6xf32>) -> tensor<6xf32>
// CHECK: %[[V3:.+]] = linalg.generic {indexing_maps = [#[[MAP]], #[[MAP1]]], iterator_types = ["reduction", "parallel"]} ins(%[[ARG3]] : tensor<4x6xbf16>) outs(%[[V2]] : tensor<6xf32>) {
// CHECK: ^bb0(%[[V4:.+]]: bf16, %[[V5:.+]]: f32):
// CHECK: %[[V6:.+]] = arith.extf %[[V4]] : bf16 to f32
// CHECK: %[[V7:.+]] = arith.addf %[[V5]], %[[V6]] : f32
// CHECK: linalg.yield %[[V7]] : f32
// CHECK: } -> tensor<6xf32>
// CHECK: %[[V8:.+]] = arith.truncf %[[V3]] : tensor<6xf32> to tensor<6xbf16>
// CHECK: return %[[V8]] : tensor<6xbf16>
