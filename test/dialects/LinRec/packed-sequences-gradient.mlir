// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%q: tensor<1x5x2x3xf64>, %k: tensor<1x5x2x3xf64>, %v: tensor<1x5x2x2xf64>, %decay: tensor<2xf64>, %beta: tensor<1x5x2xf64>, %initial: tensor<3x2x3x2xf64>) -> (tensor<1x5x2x2xf64>, tensor<3x2x3x2xf64>) {
  %starts = arith.constant dense<[0, 2, 2, 5]> : tensor<4xi64>
  %r:2 = linrec.scan %q, %k, %v decay(%decay) beta(%beta) initial(%initial) starts(%starts) {} : (tensor<1x5x2x3xf64>, tensor<1x5x2x3xf64>, tensor<1x5x2x2xf64>, tensor<2xf64>, tensor<1x5x2xf64>, tensor<3x2x3x2xf64>, tensor<4xi64>) -> (tensor<1x5x2x2xf64>, tensor<3x2x3x2xf64>)
  return %r#0, %r#1 : tensor<1x5x2x2xf64>, tensor<3x2x3x2xf64>
}

func.func @gradients() {
  check.gradient @f wrt [0, 1, 2, 3, 4, 5] {order = 1}
  return
}
