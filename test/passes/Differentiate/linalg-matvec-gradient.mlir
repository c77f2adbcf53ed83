// RUN: %for_each M=0,1,3 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%a: tensor<$Mx4xf64>, %b: tensor<4xf64>, %c: tensor<$Mxf64>) -> tensor<$Mxf64> {
  %y = linalg.matvec ins(%a, %b : tensor<$Mx4xf64>, tensor<4xf64>)
      outs(%c : tensor<$Mxf64>) -> tensor<$Mxf64>
  return %y : tensor<$Mxf64>
}

func.func @gradients() {
  check.gradient @f wrt [0, 1, 2]
  return
}
