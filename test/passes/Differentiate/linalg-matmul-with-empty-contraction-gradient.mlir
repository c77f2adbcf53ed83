// RUN: %for_each M=0,1,3 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%a: tensor<3x$Mxf64>, %b: tensor<$Mx2xf64>, %c: tensor<3x2xf64>) -> tensor<3x2xf64> {
  %y = linalg.matmul
      ins(%a, %b : tensor<3x$Mxf64>, tensor<$Mx2xf64>)
      outs(%c : tensor<3x2xf64>) -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func @gradients() {
  check.gradient @f wrt [0, 1, 2]
  return
}
