// RUN: %for_each M=0,1,3 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%a: tensor<$Mxf64>) -> tensor<$Mxf64> {
  %n = arith.truncf %a : tensor<$Mxf64> to tensor<$Mxf32>
  %s = arith.mulf %n, %n : tensor<$Mxf32>
  %y = arith.extf %s : tensor<$Mxf32> to tensor<$Mxf64>
  return %y : tensor<$Mxf64>
}

func.func @gradients() {
  check.gradient @f wrt [0]
  return
}
