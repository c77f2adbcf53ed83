// RUN: %for_each M=0,1,3 N=1,5 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%a: tensor<2x$Mx4xf64>, %b: tensor<2x4x$Nxf64>, %c: tensor<2x$Mx$Nxf64>) -> tensor<2x$Mx$Nxf64> {
  %y = linalg.batch_matmul
      ins(%a, %b : tensor<2x$Mx4xf64>, tensor<2x4x$Nxf64>)
      outs(%c : tensor<2x$Mx$Nxf64>) -> tensor<2x$Mx$Nxf64>
  return %y : tensor<2x$Mx$Nxf64>
}

func.func @gradients() {
  check.gradient @f wrt [0, 1]
  return
}
