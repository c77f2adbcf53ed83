// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Elements 0, 2, 4 and 6, and elements 5 and 6: that they meet only the steps say.
func.func @f(%x: tensor<9xf64>) -> (tensor<4xf64>, tensor<2xf64>) {
  %even = tensor.extract_slice %x[0] [4] [2] : tensor<9xf64> to tensor<4xf64>
  %pair = tensor.extract_slice %x[5] [2] [1] : tensor<9xf64> to tensor<2xf64>
  %a = math.exp %even : tensor<4xf64>
  %b = math.sin %pair : tensor<2xf64>
  return %a, %b : tensor<4xf64>, tensor<2xf64>
}

// The other way round.
func.func @g(%x: tensor<9xf64>) -> (tensor<2xf64>, tensor<4xf64>) {
  %pair = tensor.extract_slice %x[5] [2] [1] : tensor<9xf64> to tensor<2xf64>
  %even = tensor.extract_slice %x[0] [4] [2] : tensor<9xf64> to tensor<4xf64>
  %a = math.exp %even : tensor<4xf64>
  %b = math.sin %pair : tensor<2xf64>
  return %b, %a : tensor<2xf64>, tensor<4xf64>
}

func.func @gradients() {
  check.gradient @f wrt [0]
  check.gradient @g wrt [0]
  return
}
