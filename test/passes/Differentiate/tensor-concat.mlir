// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%a: tensor<?x6xf32>, %b: tensor<4x6xf32>) -> tensor<?x6xf32> {
  %y = tensor.concat dim(0) %a, %b : (tensor<?x6xf32>, tensor<4x6xf32>) -> tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

func.func @df(%a: tensor<?x6xf32> {check.shape = array<i64: 3, 6>}, %b: tensor<4x6xf32>, %g: tensor<?x6xf32> {check.shape = array<i64: 7, 6>}) -> (tensor<?x6xf32>, tensor<4x6xf32>) {
  %y, %da, %db = ad.vjp @f(%a, %b) cotangents(%g) wrt [0, 1]
      : (tensor<?x6xf32>, tensor<4x6xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>, tensor<4x6xf32>)
  return %da, %db : tensor<?x6xf32>, tensor<4x6xf32>
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<?x6xf32> {{.*}}, %[[ARG1:.+]]: tensor<4x6xf32>, %[[ARG2:.+]]: tensor<?x6xf32> {{.*}}) -> (tensor<?x6xf32>, tensor<4x6xf32>)
// CHECK: %[[V0:.+]] = arith.constant 0 : index
// CHECK: %[[V1:.+]] = tensor.dim %[[ARG0]], %[[V0]] : tensor<?x6xf32>
// CHECK: %[[V2:.+]] = tensor.extract_slice %[[ARG2]][0, 0] [%[[V1]], 6] [1, 1] : tensor<?x6xf32> to tensor<?x6xf32>
// CHECK: %[[V3:.+]] = tensor.extract_slice %[[ARG2]][%[[V1]], 0] [4, 6] [1, 1] : tensor<?x6xf32> to tensor<4x6xf32>
// CHECK: return %[[V2]], %[[V3]] : tensor<?x6xf32>, tensor<4x6xf32>
