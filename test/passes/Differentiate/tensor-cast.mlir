// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: tensor<4x6xf32>) -> tensor<?x6xf32> {
  %y = tensor.cast %x : tensor<4x6xf32> to tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

func.func @df(%x: tensor<4x6xf32>, %g: tensor<?x6xf32> {check.shape = array<i64: 4, 6>}) -> tensor<4x6xf32> {
  %y, %dx = ad.vjp @f(%x) cotangents(%g) wrt [0]
      : (tensor<4x6xf32>) -> (tensor<?x6xf32>, tensor<4x6xf32>)
  return %dx : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x6xf32>, %[[ARG1:.+]]: tensor<?x6xf32> {{.*}}) -> tensor<4x6xf32>
// CHECK: %[[V0:.+]] = tensor.cast %[[ARG1]] : tensor<?x6xf32> to tensor<4x6xf32>
// CHECK: return %[[V0]] : tensor<4x6xf32>
