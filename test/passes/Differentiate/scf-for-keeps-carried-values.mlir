// RUN: drawloom-opt %s --differentiate --verify-semantics=8 | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The tape has one slot for each iteration; the way back counts down.

func.func private @f(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %y = scf.for %i = %c0 to %c10 step %c1 iter_args(%h = %x) -> tensor<4xf32> {
    %a = arith.mulf %h, %w : tensor<4xf32>
    %t = math.exp %a : tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

func.func @df(%x: tensor<4xf32>, %w: tensor<4xf32>, %g: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y, %dx, %dw = ad.vjp @f(%x, %w) cotangents(%g) wrt [0, 1]
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %dx, %dw : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4xf32>, %[[ARG1:.+]]: tensor<4xf32>, %[[ARG2:.+]]: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK: %[[V0:.+]] = arith.constant 9 : index
// CHECK: %[[V1:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[V2:.+]] = arith.constant 0 : index
// CHECK: %[[V3:.+]] = arith.constant 1 : index
// CHECK: %[[V4:.+]] = arith.constant 10 : index
// CHECK: %[[V5:.+]] = tensor.empty() : tensor<10x4xf32>
// CHECK: %[[V6:.+]]:2 = scf.for %[[V7:.+]] = %[[V2]] to %[[V4]] step %[[V3]] iter_args(%[[V8:.+]] = %[[ARG0]], %[[V9:.+]] = %[[V5]]) -> (tensor<4xf32>, tensor<10x4xf32>) {
// CHECK: %[[V10:.+]] = arith.mulf %[[V8]], %[[ARG1]] : tensor<4xf32>
// CHECK: %[[V11:.+]] = math.exp %[[V10]] : tensor<4xf32>
// CHECK: %[[V12:.+]] = tensor.insert_slice %[[V8]] into %[[V9]][%[[V7]], 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<10x4xf32>
// CHECK: scf.yield %[[V11]], %[[V12]] : tensor<4xf32>, tensor<10x4xf32>
// CHECK: %[[V13:.+]] = tensor.empty() : tensor<4xf32>
// CHECK: %[[V14:.+]] = linalg.fill ins(%[[V1]] : f32) outs(%[[V13]] : tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[V15:.+]]:2 = scf.for %[[V7]] = %[[V2]] to %[[V4]] step %[[V3]] iter_args(%[[V8]] = %[[ARG2]], %[[V9]] = %[[V14]]) -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK: %[[V10]] = arith.subi %[[V0]], %[[V7]] : index
// CHECK: %[[V16:.+]] = tensor.extract_slice %[[V6]]#1[%[[V10]], 0] [1, 4] [1, 1] : tensor<10x4xf32> to tensor<4xf32>
// CHECK: %[[V11]] = arith.mulf %[[V16]], %[[ARG1]] : tensor<4xf32>
// CHECK: %[[V17:.+]] = math.exp %[[V11]] : tensor<4xf32>
// CHECK: %[[V18:.+]] = arith.mulf %[[V8]], %[[V17]] : tensor<4xf32>
// CHECK: %[[V19:.+]] = arith.mulf %[[V18]], %[[ARG1]] : tensor<4xf32>
// CHECK: %[[V20:.+]] = math.fma %[[V18]], %[[V16]], %[[V9]] : tensor<4xf32>
// CHECK: scf.yield %[[V19]], %[[V20]] : tensor<4xf32>, tensor<4xf32>
// CHECK: return %[[V15]]#0, %[[V15]]#1 : tensor<4xf32>, tensor<4xf32>
