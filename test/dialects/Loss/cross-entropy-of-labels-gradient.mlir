// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<3x4xf64>) -> tensor<f64> {
  %l = arith.constant dense<[2, 0, 3]> : tensor<3xi32>
  %y = loss.softmax_cross_entropy %x, %l
      : tensor<3x4xf64>, tensor<3xi32> -> tensor<f64>
  return %y : tensor<f64>
}

func.func @gradients() {
  check.gradient @f wrt [0]
  return
}
