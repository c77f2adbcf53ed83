// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What was overwritten gets no gradient.

func.func private @f(%s: tensor<2x3xf32>, %x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = tensor.insert_slice %s into %x[1, 2] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

func.func @df(%s: tensor<2x3xf32>, %x: tensor<4x6xf32>, %g: tensor<4x6xf32>) -> (tensor<2x3xf32>, tensor<4x6xf32>) {
  %y, %ds, %dx = ad.vjp @f(%s, %x) cotangents(%g) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<2x3xf32>, tensor<4x6xf32>)
  return %ds, %dx : tensor<2x3xf32>, tensor<4x6xf32>
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<4x6xf32>, %[[ARG2:.+]]: tensor<4x6xf32>) -> (tensor<2x3xf32>, tensor<4x6xf32>)
// CHECK: %[[V0:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[V1:.+]] = tensor.extract_slice %[[ARG2]][1, 2] [2, 3] [1, 1] : tensor<4x6xf32> to tensor<2x3xf32>
// CHECK: %[[V2:.+]] = tensor.empty() : tensor<2x3xf32>
// CHECK: %[[V3:.+]] = linalg.fill ins(%[[V0]] : f32) outs(%[[V2]] : tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK: %[[V4:.+]] = tensor.insert_slice %[[V3]] into %[[ARG2]][1, 2] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x6xf32>
// CHECK: return %[[V1]], %[[V4]] : tensor<2x3xf32>, tensor<4x6xf32>
