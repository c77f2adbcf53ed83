// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: tensor<2x3x4xf32>, %o: tensor<4x2x3xf32>) -> tensor<4x2x3xf32> {
  %y = linalg.transpose ins(%x : tensor<2x3x4xf32>) outs(%o : tensor<4x2x3xf32>) permutation = [2, 0, 1]
  return %y : tensor<4x2x3xf32>
}

func.func @df(%x: tensor<2x3x4xf32>, %o: tensor<4x2x3xf32>, %g: tensor<4x2x3xf32>) -> tensor<2x3x4xf32> {
  %y, %dx = ad.vjp @f(%x, %o) cotangents(%g) wrt [0]
      : (tensor<2x3x4xf32>, tensor<4x2x3xf32>) -> (tensor<4x2x3xf32>, tensor<2x3x4xf32>)
  return %dx : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<2x3x4xf32>, %[[ARG1:.+]]: tensor<4x2x3xf32>, %[[ARG2:.+]]: tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
// CHECK: %[[V0:.+]] = tensor.empty() : tensor<2x3x4xf32>
// CHECK: %[[V1:.+]] = linalg.transpose ins(%[[ARG2]] : tensor<4x2x3xf32>) outs(%[[V0]] : tensor<2x3x4xf32>) permutation = [1, 2, 0]
// CHECK: return %[[V1]] : tensor<2x3x4xf32>
