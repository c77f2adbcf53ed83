// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: tensor<4x6xf32>) -> tensor<2x3xf32> {
  %y = tensor.extract_slice %x[1, 2] [2, 3] [1, 1] : tensor<4x6xf32> to tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

func.func @df(%x: tensor<4x6xf32>, %g: tensor<2x3xf32>) -> tensor<4x6xf32> {
  %y, %dx = ad.vjp @f(%x) cotangents(%g) wrt [0]
      : (tensor<4x6xf32>) -> (tensor<2x3xf32>, tensor<4x6xf32>)
  return %dx : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x6xf32>, %[[ARG1:.+]]: tensor<2x3xf32>) -> tensor<4x6xf32>
// CHECK: %[[V0:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[V1:.+]] = tensor.empty() : tensor<4x6xf32>
// CHECK: %[[V2:.+]] = linalg.fill ins(%[[V0]] : f32) outs(%[[V1]] : tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK: %[[V3:.+]] = tensor.insert_slice %[[ARG1]] into %[[V2]][1, 2] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x6xf32>
// CHECK: return %[[V3]] : tensor<4x6xf32>
