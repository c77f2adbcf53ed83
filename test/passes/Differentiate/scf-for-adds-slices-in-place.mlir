// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The gradient of a slice is added to its place only.

func.func private @f(%x: tensor<4x6xf32>, %z: tensor<6xf32>) -> tensor<6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %y = scf.for %i = %c0 to %c4 step %c1 iter_args(%h = %z) -> tensor<6xf32> {
    %r = tensor.extract_slice %x[%i, 0] [1, 6] [1, 1] : tensor<4x6xf32> to tensor<6xf32>
    %q = arith.mulf %r, %r : tensor<6xf32>
    %a = arith.addf %h, %q : tensor<6xf32>
    scf.yield %a : tensor<6xf32>
  }
  return %y : tensor<6xf32>
}

func.func @df(%x: tensor<4x6xf32>, %z: tensor<6xf32>, %g: tensor<6xf32>) -> tensor<4x6xf32> {
  %y, %dx = ad.vjp @f(%x, %z) cotangents(%g) wrt [0]
      : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<6xf32>, tensor<4x6xf32>)
  return %dx : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4x6xf32>, %[[ARG1:.+]]: tensor<6xf32>, %[[ARG2:.+]]: tensor<6xf32>) -> tensor<4x6xf32>
// CHECK: %[[V0:.+]] = arith.constant 3 : index
// CHECK: %[[V1:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[V2:.+]] = arith.constant 0 : index
// CHECK: %[[V3:.+]] = arith.constant 1 : index
// CHECK: %[[V4:.+]] = arith.constant 4 : index
// CHECK: %[[V5:.+]] = tensor.empty() : tensor<4x6xf32>
// CHECK: %[[V6:.+]] = linalg.fill ins(%[[V1]] : f32) outs(%[[V5]] : tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK: %[[V7:.+]] = scf.for %[[V8:.+]] = %[[V2]] to %[[V4]] step %[[V3]] iter_args(%[[V9:.+]] = %[[V6]]) -> (tensor<4x6xf32>) {
// CHECK: %[[V10:.+]] = arith.subi %[[V0]], %[[V8]] : index
// CHECK: %[[V11:.+]] = tensor.extract_slice %[[ARG0]][%[[V10]], 0] [1, 6] [1, 1] : tensor<4x6xf32> to tensor<6xf32>
// CHECK: %[[V12:.+]] = arith.mulf %[[ARG2]], %[[V11]] : tensor<6xf32>
// CHECK: %[[V13:.+]] = arith.addf %[[V12]], %[[V12]] : tensor<6xf32>
// CHECK: %[[V14:.+]] = tensor.extract_slice %[[V9]][%[[V10]], 0] [1, 6] [1, 1] : tensor<4x6xf32> to tensor<6xf32>
// CHECK: %[[V15:.+]] = arith.addf %[[V14]], %[[V13]] : tensor<6xf32>
// CHECK: %[[V16:.+]] = tensor.insert_slice %[[V15]] into %[[V9]][%[[V10]], 0] [1, 6] [1, 1] : tensor<6xf32> into tensor<4x6xf32>
// CHECK: scf.yield %[[V16]] : tensor<4x6xf32>
// CHECK: return %[[V7]] : tensor<4x6xf32>
