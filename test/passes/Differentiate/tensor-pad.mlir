// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: tensor<4x6xf32>) -> tensor<7x8xf32> {
  %zero = arith.constant 0.0 : f32
  %y = tensor.pad %x low[1, 2] high[2, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x6xf32> to tensor<7x8xf32>
  return %y : tensor<7x8xf32>
}

func.func @df(%x: tensor<4x6xf32>, %g: tensor<7x8xf32>) -> tensor<4x6xf32> {
  %y, %dx = ad.vjp @f(%x) cotangents(%g) wrt [0]
      : (tensor<4x6xf32>) -> (tensor<7x8xf32>, tensor<4x6xf32>)
  return %dx : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x6xf32>, %[[ARG1:.+]]: tensor<7x8xf32>) -> tensor<4x6xf32>
// CHECK: %[[V0:.+]] = tensor.extract_slice %[[ARG1]][1, 2] [4, 6] [1, 1] : tensor<7x8xf32> to tensor<4x6xf32>
// CHECK: return %[[V0]] : tensor<4x6xf32>
