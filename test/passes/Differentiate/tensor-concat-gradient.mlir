// RUN: %for_each M=0,1,3 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%a: tensor<$Mx2xf64>, %b: tensor<$Mx3xf64>) -> tensor<$Mx7xf64> {
  %y = tensor.concat dim(1) %a, %b, %a
      : (tensor<$Mx2xf64>, tensor<$Mx3xf64>, tensor<$Mx2xf64>)
      -> tensor<$Mx7xf64>
  %z = math.exp %y : tensor<$Mx7xf64>
  return %z : tensor<$Mx7xf64>
}

func.func @gradients() {
  check.gradient @f wrt [0, 1]
  return
}
