// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// If the gradient of a body needs only what the body gave, it reads this result, and the operand need not be kept.

// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

#id = affine_map<(r, c) -> (r, c)>

func.func private @layer(%x: tensor<4x6xf32>, %w: tensor<6x6xf32>, %v: tensor<6x6xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x6xf32>
  %z = linalg.matmul ins(%x, %w : tensor<4x6xf32>, tensor<6x6xf32>) outs(%zero : tensor<4x6xf32>) -> tensor<4x6xf32>
  %e = tensor.empty() : tensor<4x6xf32>
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%z : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %t = math.tanh %in : f32
      linalg.yield %t : f32
  } -> tensor<4x6xf32>
  %y = linalg.matmul ins(%h, %v : tensor<4x6xf32>, tensor<6x6xf32>) outs(%zero : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @gradient
// CHECK: %[[Z:.*]] = linalg.matmul
// CHECK: %[[H:.*]] = linalg.generic {{.*}} ins(%[[Z]] :
// CHECK: math.tanh
// CHECK-NOT: %[[Z]]
// CHECK-NOT: math.tanh
// CHECK: linalg.generic {{.*}}%[[H]]{{[ ,]}}
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.mulf %[[Y:.*]], %[[Y]] : f32
func.func @gradient(%x: tensor<4x6xf32>, %w: tensor<6x6xf32>, %v: tensor<6x6xf32>, %dy: tensor<4x6xf32>) -> tensor<6x6xf32> {
  %y, %dw = ad.vjp @layer(%x, %w, %v) cotangents(%dy) wrt [1]
      : (tensor<4x6xf32>, tensor<6x6xf32>, tensor<6x6xf32>) -> (tensor<4x6xf32>, tensor<6x6xf32>)
  return %dw : tensor<6x6xf32>
}

// An operand that others keep anyway is read: here the caller has it. The result would be one more tensor.
func.func private @of_argument(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %t = math.tanh %in : f32
      linalg.yield %t : f32
  } -> tensor<4x6xf32>
  return %h : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @gradient_of_argument
// CHECK-SAME: (%[[X:.*]]: tensor<4x6xf32>,
// CHECK: linalg.generic {{.*}} ins(%[[X]] :
// CHECK: linalg.generic {{.*}} ins(%[[X]],
// CHECK: math.tanh
func.func @gradient_of_argument(%x: tensor<4x6xf32>, %dy: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %y, %dx = ad.vjp @of_argument(%x) cotangents(%dy) wrt [0]
      : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
  return %y, %dx : tensor<4x6xf32>, tensor<4x6xf32>
}
