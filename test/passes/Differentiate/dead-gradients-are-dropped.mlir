// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Only %w is asked for: no contraction gives the gradient of %x, and the part
// that does not depend on %w (exp) has no derivative code.

func.func private @loss(%w: tensor<4x3xf32>, %x: tensor<8x4xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x3xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<8x3xf32>) -> tensor<8x3xf32>
  %h = math.exp %x : tensor<8x4xf32>
  %y = linalg.matmul ins(%h, %w : tensor<8x4xf32>, tensor<4x3xf32>) outs(%i : tensor<8x3xf32>) -> tensor<8x3xf32>
  %s = tensor.empty() : tensor<f32>
  %t = linalg.fill ins(%zero : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %l = linalg.reduce { arith.addf } ins(%y : tensor<8x3xf32>) outs(%t : tensor<f32>) dimensions = [0, 1]
  return %l : tensor<f32>
}

// The loss itself is not used either, so its matmul goes as well.
// CHECK-LABEL: func.func @gradient
// CHECK: math.exp
// CHECK-NOT: linalg.matmul
// CHECK: linalg.contract
// CHECK-NOT: linalg.contract
// CHECK-NOT: arith.mulf
// CHECK: return
func.func @gradient(%w: tensor<4x3xf32>, %x: tensor<8x4xf32>) -> tensor<4x3xf32> {
  %l, %dw = ad.value_and_grad @loss(%w, %x) wrt [0]
      : (tensor<4x3xf32>, tensor<8x4xf32>) -> (tensor<f32>, tensor<4x3xf32>)
  return %dw : tensor<4x3xf32>
}
