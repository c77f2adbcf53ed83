// RUN: %for_each N=1,5 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%s: tensor<2x$Nxf64>, %x: tensor<5x$Nxf64>) -> tensor<5x$Nxf64> {
  %y = tensor.insert_slice %s into %x[2, 0] [2, $N] [1, 1]
      : tensor<2x$Nxf64> into tensor<5x$Nxf64>
  %z = math.exp %y : tensor<5x$Nxf64>
  return %z : tensor<5x$Nxf64>
}

func.func @gradients() {
  check.gradient @f wrt [0, 1]
  return
}
