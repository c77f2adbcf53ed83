// RUN: %for_each N=1,5 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<5x$Nxf64>) -> tensor<2x$Nxf64> {
  %q = arith.mulf %x, %x : tensor<5x$Nxf64>
  %y = tensor.extract_slice %q[1, 0] [2, $N] [2, 1]
      : tensor<5x$Nxf64> to tensor<2x$Nxf64>
  %z = math.exp %y : tensor<2x$Nxf64>
  return %z : tensor<2x$Nxf64>
}

func.func @gradients() {
  check.gradient @f wrt [0]
  return
}
