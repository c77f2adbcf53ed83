// RUN: %for_each M=0,1,3 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<$Mx48xf64>, %a: tensor<1x6xf64>, %b: tensor<2x4xf64>) -> tensor<$Mx48xf64> {
  %y = kan.rational %x, %a, %b form(abs_sum) : tensor<$Mx48xf64>, tensor<1x6xf64>, tensor<2x4xf64>
  return %y : tensor<$Mx48xf64>
}

func.func @gradients() {
  check.gradient @f wrt [0, 1, 2]
  return
}
