// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The gradients of these activations read their results: the operand, here the product, is not read in the backward pass.

// RUN: sed 's/ACTIVATION/kan.relu/' %s | drawloom-opt --differentiate --verify-semantics | FileCheck %s
// RUN: sed 's/ACTIVATION/kan.tanh/' %s | drawloom-opt --differentiate --verify-semantics | FileCheck %s
// RUN: sed 's/ACTIVATION/kan.sigmoid/' %s | drawloom-opt --differentiate --verify-semantics | FileCheck %s

#id = affine_map<(r, c) -> (r, c)>

func.func private @layer(%x: tensor<4x6xf32>, %w: tensor<6x6xf32>, %v: tensor<6x6xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x6xf32>
  %z = linalg.matmul ins(%x, %w : tensor<4x6xf32>, tensor<6x6xf32>) outs(%zero : tensor<4x6xf32>) -> tensor<4x6xf32>
  %e = tensor.empty() : tensor<4x6xf32>
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%z : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %a = ACTIVATION %in : f32
      linalg.yield %a : f32
  } -> tensor<4x6xf32>
  %y = linalg.matmul ins(%h, %v : tensor<4x6xf32>, tensor<6x6xf32>) outs(%zero : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @gradient
// CHECK: %[[Z:.*]] = linalg.matmul
// CHECK: %[[H:.*]] = linalg.generic {{.*}} ins(%[[Z]] :
// CHECK-NOT: %[[Z]]{{[ ,:)]}}
// CHECK: linalg.generic {{.*}}%[[H]]{{[ ,]}}
// CHECK-NOT: %[[Z]]{{[ ,:)]}}
// CHECK: return
func.func @gradient(%x: tensor<4x6xf32>, %w: tensor<6x6xf32>, %v: tensor<6x6xf32>, %dy: tensor<4x6xf32>) -> tensor<6x6xf32> {
  %y, %dw = ad.vjp @layer(%x, %w, %v) cotangents(%dy) wrt [1]
      : (tensor<4x6xf32>, tensor<6x6xf32>, tensor<6x6xf32>) -> (tensor<4x6xf32>, tensor<6x6xf32>)
  return %dw : tensor<6x6xf32>
}
