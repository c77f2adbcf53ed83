// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: tensor<4x6xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %a = tensor.extract_slice %x[0, 0] [1, 6] [1, 1] : tensor<4x6xf32> to tensor<6xf32>
  %b = tensor.extract_slice %x[2, 0] [1, 6] [1, 1] : tensor<4x6xf32> to tensor<6xf32>
  return %a, %b : tensor<6xf32>, tensor<6xf32>
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[X:.+]]: tensor<4x6xf32>, %[[GA:.+]]: tensor<6xf32>, %[[GB:.+]]: tensor<6xf32>)
// CHECK: %[[ZERO:.+]] = linalg.fill
// CHECK: %[[ONE:.+]] = tensor.insert_slice %[[GB]] into %[[ZERO]][2, 0]
// CHECK: %[[BOTH:.+]] = tensor.insert_slice %[[GA]] into %[[ONE]][0, 0]
// CHECK-NEXT: return %[[BOTH]]
func.func @df(%x: tensor<4x6xf32>, %ga: tensor<6xf32>, %gb: tensor<6xf32>) -> tensor<4x6xf32> {
  %a, %b, %dx = ad.vjp @f(%x) cotangents(%ga, %gb) wrt [0]
      : (tensor<4x6xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<4x6xf32>)
  return %dx : tensor<4x6xf32>
}
