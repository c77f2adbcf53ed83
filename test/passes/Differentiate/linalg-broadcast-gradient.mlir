// RUN: %for_each M=0,1,3 N=1,5 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<$Nxf64>, %o: tensor<$Mx$Nxf64>) -> tensor<$Mx$Nxf64> {
  %y = linalg.broadcast ins(%x : tensor<$Nxf64>)
      outs(%o : tensor<$Mx$Nxf64>) dimensions = [0]
  %z = math.exp %y : tensor<$Mx$Nxf64>
  return %z : tensor<$Mx$Nxf64>
}

func.func @gradients() {
  check.gradient @f wrt [0]
  return
}
