// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: tensor<4xf32>, %i: index) -> f32 {
  %y = tensor.extract %x[%i] : tensor<4xf32>
  return %y : f32
}

func.func @df(%x: tensor<4xf32>, %i: index, %g: f32) -> tensor<4xf32> {
  %y, %dx = ad.vjp @f(%x, %i) cotangents(%g) wrt [0]
      : (tensor<4xf32>, index) -> (f32, tensor<4xf32>)
  return %dx : tensor<4xf32>
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: tensor<4xf32>, %[[ARG1:.+]]: index, %[[ARG2:.+]]: f32) -> tensor<4xf32>
// CHECK: %[[V0:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[V1:.+]] = tensor.empty() : tensor<4xf32>
// CHECK: %[[V2:.+]] = linalg.fill ins(%[[V0]] : f32) outs(%[[V1]] : tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[V3:.+]] = tensor.insert %[[ARG2]] into %[[V2]][%[[ARG1]]] : tensor<4xf32>
// CHECK: return %[[V3]] : tensor<4xf32>
