// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<0x3xf64>) -> tensor<2x3xf64> {
  %one = arith.constant 1.0 : f64
  %y = tensor.pad %x low[0, 0] high[2, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %one : f64
  } : tensor<0x3xf64> to tensor<2x3xf64>
  %z = math.exp %y : tensor<2x3xf64>
  return %z : tensor<2x3xf64>
}

func.func @gradients() {
  check.gradient @f wrt [0]
  return
}
