// RUN: %for_each N=1,5 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<6x$Nxf64>) -> tensor<2x3x$Nxf64> {
  %a = tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 3, $N]
      : tensor<6x$Nxf64> into tensor<2x3x$Nxf64>
  %b = math.exp %a : tensor<2x3x$Nxf64>
  %p = tensor.collapse_shape %b [[0, 1], [2]]
      : tensor<2x3x$Nxf64> into tensor<6x$Nxf64>
  %q = arith.mulf %p, %x : tensor<6x$Nxf64>
  %c = tensor.expand_shape %q [[0, 1], [2]] output_shape [2, 3, $N]
      : tensor<6x$Nxf64> into tensor<2x3x$Nxf64>
  return %c : tensor<2x3x$Nxf64>
}

func.func @gradients() {
  check.gradient @f wrt [0]
  return
}
