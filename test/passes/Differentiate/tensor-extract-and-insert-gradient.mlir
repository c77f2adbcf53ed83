// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<4xf64>, %i: index {check.range = array<f64: 2.0, 2.0>}) -> tensor<4xf64> {
  %a = tensor.extract %x[%i] : tensor<4xf64>
  %b = math.exp %a : f64
  %c0 = arith.constant 0 : index
  %y = tensor.insert %b into %x[%c0] : tensor<4xf64>
  %z = arith.mulf %y, %x : tensor<4xf64>
  return %z : tensor<4xf64>
}

func.func @gradients() {
  check.gradient @f wrt [0]
  return
}
