// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A value that one branch does not use gets zeros from it.

func.func private @f(%x: tensor<4xf32>, %w: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %y = scf.if %c -> tensor<4xf32> {
    %a = arith.mulf %x, %w : tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  } else {
    %a = math.exp %x : tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

func.func @df(%x: tensor<4xf32>, %w: tensor<4xf32>, %c: i1, %g: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y, %dx, %dw = ad.vjp @f(%x, %w, %c) cotangents(%g) wrt [0, 1]
      : (tensor<4xf32>, tensor<4xf32>, i1) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %dx, %dw : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4xf32>, %[[ARG1:.+]]: tensor<4xf32>, %[[ARG2:.+]]: i1, %[[ARG3:.+]]: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK: %[[V0:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[V1:.+]]:2 = scf.if %[[ARG2]] -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK: %[[V2:.+]] = arith.mulf %[[ARG3]], %[[ARG1]] : tensor<4xf32>
// CHECK: %[[V3:.+]] = arith.mulf %[[ARG3]], %[[ARG0]] : tensor<4xf32>
// CHECK: scf.yield %[[V2]], %[[V3]] : tensor<4xf32>, tensor<4xf32>
// CHECK: } else {
// CHECK: %[[V2]] = math.exp %[[ARG0]] : tensor<4xf32>
// CHECK: %[[V3]] = arith.mulf %[[ARG3]], %[[V2]] : tensor<4xf32>
// CHECK: %[[V4:.+]] = tensor.empty() : tensor<4xf32>
// CHECK: %[[V5:.+]] = linalg.fill ins(%[[V0]] : f32) outs(%[[V4]] : tensor<4xf32>) -> tensor<4xf32>
// CHECK: scf.yield %[[V3]], %[[V5]] : tensor<4xf32>, tensor<4xf32>
// CHECK: return %[[V1]]#0, %[[V1]]#1 : tensor<4xf32>, tensor<4xf32>
