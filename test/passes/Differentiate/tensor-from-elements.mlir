// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%a: f32, %b: f32) -> tensor<2x1xf32> {
  %y = tensor.from_elements %a, %b : tensor<2x1xf32>
  return %y : tensor<2x1xf32>
}

func.func @df(%a: f32, %b: f32, %g: tensor<2x1xf32>) -> (f32, f32) {
  %y, %da, %db = ad.vjp @f(%a, %b) cotangents(%g) wrt [0, 1]
      : (f32, f32) -> (tensor<2x1xf32>, f32, f32)
  return %da, %db : f32, f32
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: f32, %[[ARG1:.+]]: f32, %[[ARG2:.+]]: tensor<2x1xf32>) -> (f32, f32)
// CHECK: %[[V0:.+]] = arith.constant 1 : index
// CHECK: %[[V1:.+]] = arith.constant 0 : index
// CHECK: %[[V2:.+]] = tensor.extract %[[ARG2]][%[[V1]], %[[V1]]] : tensor<2x1xf32>
// CHECK: %[[V3:.+]] = tensor.extract %[[ARG2]][%[[V0]], %[[V1]]] : tensor<2x1xf32>
// CHECK: return %[[V2]], %[[V3]] : f32, f32
