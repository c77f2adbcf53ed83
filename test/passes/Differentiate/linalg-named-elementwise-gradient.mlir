// RUN: %for_each M=0,1,3 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%a: tensor<$Mxf64>, %b: tensor<$Mxf64>, %o: tensor<$Mxf64>) -> tensor<$Mxf64> {
  %y = linalg.mul ins(%a, %b : tensor<$Mxf64>, tensor<$Mxf64>)
      outs(%o : tensor<$Mxf64>) -> tensor<$Mxf64>
  %z = linalg.exp ins(%y : tensor<$Mxf64>)
      outs(%o : tensor<$Mxf64>) -> tensor<$Mxf64>
  return %z : tensor<$Mxf64>
}

func.func @gradients() {
  check.gradient @f wrt [0, 1]
  return
}
