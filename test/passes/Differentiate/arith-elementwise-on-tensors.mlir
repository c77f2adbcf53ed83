// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%a: tensor<?x3xf32>, %b: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = arith.mulf %a, %b : tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

func.func @df(%a: tensor<?x3xf32>, %b: tensor<?x3xf32>, %g: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %y, %da, %db = ad.vjp @f(%a, %b) cotangents(%g) wrt [0, 1]
      : (tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>)
  return %da, %db : tensor<?x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<?x3xf32>, %[[ARG1:.+]]: tensor<?x3xf32>, %[[ARG2:.+]]: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>)
// CHECK: %[[V0:.+]] = arith.mulf %[[ARG2]], %[[ARG1]] : tensor<?x3xf32>
// CHECK: %[[V1:.+]] = arith.mulf %[[ARG2]], %[[ARG0]] : tensor<?x3xf32>
// CHECK: return %[[V0]], %[[V1]] : tensor<?x3xf32>, tensor<?x3xf32>
