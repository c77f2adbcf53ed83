// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%s: f32, %x: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  %y = tensor.insert %s into %x[%i] : tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @df(%s: f32, %x: tensor<4xf32>, %i: index, %g: tensor<4xf32>) -> (f32, tensor<4xf32>) {
  %y, %ds, %dx = ad.vjp @f(%s, %x, %i) cotangents(%g) wrt [0, 1]
      : (f32, tensor<4xf32>, index) -> (tensor<4xf32>, f32, tensor<4xf32>)
  return %ds, %dx : f32, tensor<4xf32>
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: f32, %[[ARG1:.+]]: tensor<4xf32>, %[[ARG2:.+]]: index, %[[ARG3:.+]]: tensor<4xf32>) -> (f32, tensor<4xf32>)
// CHECK: %[[V0:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[V1:.+]] = tensor.extract %[[ARG3]][%[[ARG2]]] : tensor<4xf32>
// CHECK: %[[V2:.+]] = tensor.insert %[[V0]] into %[[ARG3]][%[[ARG2]]] : tensor<4xf32>
// CHECK: return %[[V1]], %[[V2]] : f32, tensor<4xf32>
