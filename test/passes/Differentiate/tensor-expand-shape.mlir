// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: tensor<24xf32>) -> tensor<4x6xf32> {
  %y = tensor.expand_shape %x [[0, 1]] output_shape [4, 6] : tensor<24xf32> into tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

func.func @df(%x: tensor<24xf32>, %g: tensor<4x6xf32>) -> tensor<24xf32> {
  %y, %dx = ad.vjp @f(%x) cotangents(%g) wrt [0]
      : (tensor<24xf32>) -> (tensor<4x6xf32>, tensor<24xf32>)
  return %dx : tensor<24xf32>
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<24xf32>, %[[ARG1:.+]]: tensor<4x6xf32>) -> tensor<24xf32>
// CHECK: %[[V0:.+]] = tensor.collapse_shape %[[ARG1]] {{\[\[}}0, 1]] : tensor<4x6xf32> into tensor<24xf32>
// CHECK: return %[[V0]] : tensor<24xf32>
