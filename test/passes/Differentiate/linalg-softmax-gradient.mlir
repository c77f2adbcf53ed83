// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<3x4xf64>, %o: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %y = linalg.softmax dimension(1) ins(%x : tensor<3x4xf64>)
      outs(%o : tensor<3x4xf64>) -> tensor<3x4xf64>
  return %y : tensor<3x4xf64>
}

func.func @gradients() {
  check.gradient @f wrt [0]
  return
}
