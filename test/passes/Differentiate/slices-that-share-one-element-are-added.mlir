// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The last element of one is the first of the other: its gradient is the sum of
// both.
func.func private @f(%x: tensor<6xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %a = tensor.extract_slice %x[0] [3] [1] : tensor<6xf32> to tensor<3xf32>
  %b = tensor.extract_slice %x[2] [3] [1] : tensor<6xf32> to tensor<3xf32>
  return %a, %b : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[X:.+]]: tensor<6xf32>, %[[GA:.+]]: tensor<3xf32>, %[[GB:.+]]: tensor<3xf32>)
// CHECK: %[[ONE:.+]] = tensor.insert_slice %[[GB]] into %{{.+}}[2]
// CHECK: %[[OLD:.+]] = tensor.extract_slice %[[ONE]][0]
// CHECK: %[[SUM:.+]] = arith.addf %[[OLD]], %[[GA]]
// CHECK: %[[BOTH:.+]] = tensor.insert_slice %[[SUM]] into %[[ONE]][0]
// CHECK: return %[[BOTH]]
func.func @df(%x: tensor<6xf32>, %ga: tensor<3xf32>, %gb: tensor<3xf32>) -> tensor<6xf32> {
  %a, %b, %dx = ad.vjp @f(%x) cotangents(%ga, %gb) wrt [0]
      : (tensor<6xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<6xf32>)
  return %dx : tensor<6xf32>
}

// The same, whichever of them is taken first.
func.func private @g(%x: tensor<6xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %b = tensor.extract_slice %x[2] [3] [1] : tensor<6xf32> to tensor<3xf32>
  %a = tensor.extract_slice %x[0] [3] [1] : tensor<6xf32> to tensor<3xf32>
  return %a, %b : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func.func @dg
// CHECK-SAME: (%[[X:.+]]: tensor<6xf32>, %[[GA:.+]]: tensor<3xf32>, %[[GB:.+]]: tensor<3xf32>)
// CHECK: %[[ONE:.+]] = tensor.insert_slice %[[GA]] into %{{.+}}[0]
// CHECK: %[[OLD:.+]] = tensor.extract_slice %[[ONE]][2]
// CHECK: %[[SUM:.+]] = arith.addf %[[OLD]], %[[GB]]
// CHECK: %[[BOTH:.+]] = tensor.insert_slice %[[SUM]] into %[[ONE]][2]
// CHECK: return %[[BOTH]]
func.func @dg(%x: tensor<6xf32>, %ga: tensor<3xf32>, %gb: tensor<3xf32>) -> tensor<6xf32> {
  %a, %b, %dx = ad.vjp @g(%x) cotangents(%ga, %gb) wrt [0]
      : (tensor<6xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<6xf32>)
  return %dx : tensor<6xf32>
}
