// RUN: %for_each N=1,5 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<5x$Nxf64>, %i: index {check.range = array<f64: 3.0, 3.0>}) -> tensor<$Nxf64> {
  %y = tensor.extract_slice %x[%i, 0] [1, $N] [1, 1]
      : tensor<5x$Nxf64> to tensor<$Nxf64>
  %z = math.exp %y : tensor<$Nxf64>
  return %z : tensor<$Nxf64>
}

func.func @gradients() {
  check.gradient @f wrt [0]
  return
}
