// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%a: tensor<3x3xf64>, %c: tensor<3x3xf64>) -> tensor<3x3xf64> {
  %y = linalg.matmul ins(%a, %a : tensor<3x3xf64>, tensor<3x3xf64>)
      outs(%c : tensor<3x3xf64>) -> tensor<3x3xf64>
  return %y : tensor<3x3xf64>
}

func.func @gradients() {
  check.gradient @f wrt [0]
  return
}
