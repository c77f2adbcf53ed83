// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// linalg.softmax has no derivative of its own, but a decomposition.

func.func private @f(%x: tensor<8x4xf32>, %o: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = linalg.softmax dimension(1) ins(%x : tensor<8x4xf32>) outs(%o : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @df
// CHECK-NOT: linalg.softmax
// CHECK: arith.maxnumf
// CHECK: math.exp
// CHECK: return
func.func @df(%x: tensor<8x4xf32>, %g: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y, %dx = ad.vjp @f(%x, %g) cotangents(%g) wrt [0]
      : (tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  return %dx : tensor<8x4xf32>
}
