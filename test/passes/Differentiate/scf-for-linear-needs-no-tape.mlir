// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The derivative with respect to the start does not read the carried value.

func.func private @f(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %y = scf.for %i = %c0 to %c10 step %c1 iter_args(%h = %x) -> tensor<4xf32> {
    %a = arith.mulf %h, %w : tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

func.func @df(%x: tensor<4xf32>, %w: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
  %y, %dx = ad.vjp @f(%x, %w) cotangents(%g) wrt [0]
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %dx : tensor<4xf32>
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4xf32>, %[[ARG1:.+]]: tensor<4xf32>, %[[ARG2:.+]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[V0:.+]] = arith.constant 0 : index
// CHECK: %[[V1:.+]] = arith.constant 1 : index
// CHECK: %[[V2:.+]] = arith.constant 10 : index
// CHECK: %[[V3:.+]] = scf.for %[[V4:.+]] = %[[V0]] to %[[V2]] step %[[V1]] iter_args(%[[V5:.+]] = %[[ARG2]]) -> (tensor<4xf32>) {
// CHECK: %[[V6:.+]] = arith.mulf %[[V5]], %[[ARG1]] : tensor<4xf32>
// CHECK: scf.yield %[[V6]] : tensor<4xf32>
// CHECK: return %[[V3]] : tensor<4xf32>
