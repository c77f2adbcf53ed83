// RUN: %for_each M=0,1,3 N=1,5 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%a: tensor<$Mx4xbf16>, %b: tensor<4x$Nxbf16>, %c: tensor<$Mx$Nxf32>) -> tensor<$Mx$Nxf32> {
  %y = linalg.matmul
      ins(%a, %b : tensor<$Mx4xbf16>, tensor<4x$Nxbf16>)
      outs(%c : tensor<$Mx$Nxf32>) -> tensor<$Mx$Nxf32>
  return %y : tensor<$Mx$Nxf32>
}

func.func @gradients() {
  check.gradient @f wrt [0, 1]
  return
}
