// RUN: %for_each M=0,1,3 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%p: tensor<$Mx3xf64>, %t: tensor<$Mx3xf64>) -> tensor<f64> {
  %y = loss.mse %p, %t : tensor<$Mx3xf64> -> tensor<f64>
  return %y : tensor<f64>
}

func.func @gradients() {
  check.gradient @f wrt [0, 1]
  return
}
