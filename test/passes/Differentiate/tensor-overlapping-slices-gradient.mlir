// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<6xf64>) -> tensor<4xf64> {
  %a = tensor.extract_slice %x[0] [4] [1]
      : tensor<6xf64> to tensor<4xf64>
  %b = tensor.extract_slice %x[2] [4] [1]
      : tensor<6xf64> to tensor<4xf64>
  %y = arith.mulf %a, %b : tensor<4xf64>
  return %y : tensor<4xf64>
}

func.func @gradients() {
  check.gradient @f wrt [0]
  return
}
