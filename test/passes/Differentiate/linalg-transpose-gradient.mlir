// RUN: %for_each M=0,1,3 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<2x$Mx3xf64>, %o: tensor<3x2x$Mxf64>) -> tensor<3x2x$Mxf64> {
  %y = linalg.transpose ins(%x : tensor<2x$Mx3xf64>)
      outs(%o : tensor<3x2x$Mxf64>) permutation = [2, 0, 1]
  %z = math.exp %y : tensor<3x2x$Mxf64>
  return %z : tensor<3x2x$Mxf64>
}

func.func @gradients() {
  check.gradient @f wrt [0]
  return
}
