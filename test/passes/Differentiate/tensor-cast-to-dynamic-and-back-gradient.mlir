// RUN: %for_each M=0,1,3 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<$Mx3xf64>) -> tensor<$Mx3xf64> {
  %a = tensor.cast %x : tensor<$Mx3xf64> to tensor<?x3xf64>
  %b = math.exp %a : tensor<?x3xf64>
  %c = tensor.cast %b : tensor<?x3xf64> to tensor<$Mx3xf64>
  return %c : tensor<$Mx3xf64>
}

func.func @gradients() {
  check.gradient @f wrt [0]
  return
}
