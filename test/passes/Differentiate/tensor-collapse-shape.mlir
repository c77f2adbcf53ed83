// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: tensor<?x6xf32>) -> tensor<?xf32> {
  %y = tensor.collapse_shape %x [[0, 1]] : tensor<?x6xf32> into tensor<?xf32>
  return %y : tensor<?xf32>
}

func.func @df(%x: tensor<?x6xf32> {check.shape = array<i64: 3, 6>}, %g: tensor<?xf32> {check.shape = array<i64: 18>}) -> tensor<?x6xf32> {
  %y, %dx = ad.vjp @f(%x) cotangents(%g) wrt [0]
      : (tensor<?x6xf32>) -> (tensor<?xf32>, tensor<?x6xf32>)
  return %dx : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<?x6xf32> {{.*}}, %[[ARG1:.+]]: tensor<?xf32> {{.*}}) -> tensor<?x6xf32>
// CHECK: %[[V0:.+]] = arith.constant 0 : index
// CHECK: %[[V1:.+]] = tensor.dim %[[ARG0]], %[[V0]] : tensor<?x6xf32>
// CHECK: %[[V2:.+]] = tensor.expand_shape %[[ARG1]] {{\[\[}}0, 1]] output_shape [%[[V1]], 6] : tensor<?xf32> into tensor<?x6xf32>
// CHECK: return %[[V2]] : tensor<?x6xf32>
