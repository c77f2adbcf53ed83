// RUN: %for_each M=0,1,3 N=1,5 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x0: tensor<$Mx$Nxf64>, %x1: tensor<$Mx$Nxf64>) -> tensor<$Mx$Nxf64> {
  %y = arith.maxnumf %x0, %x1 : tensor<$Mx$Nxf64>
  return %y : tensor<$Mx$Nxf64>
}

func.func @gradients() {
  check.gradient @f wrt [0, 1]
  return
}
