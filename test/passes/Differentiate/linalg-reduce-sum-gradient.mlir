// RUN: %for_each M=0,1,3 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<$Mx4xf64>, %o: tensor<$Mxf64>) -> tensor<$Mxf64> {
  %e = math.exp %x : tensor<$Mx4xf64>
  %y = linalg.reduce { arith.addf } ins(%e : tensor<$Mx4xf64>)
      outs(%o : tensor<$Mxf64>) dimensions = [1]
  %z = math.exp %y : tensor<$Mxf64>
  return %z : tensor<$Mxf64>
}

func.func @gradients() {
  check.gradient @f wrt [0, 1]
  return
}
