// RUN: drawloom-run %s --target=emulator --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which extent of 1 a strided slice drops, the strides do not say.
func.func @every_third(%x: tensor<13x1x1xf32>, %y: tensor<13x1x1xf32>) -> (tensor<1xf32>, tensor<5x1xf32>) {
  %e = tensor.empty() : tensor<13x1x1xf32>
  %z = linalg.map { arith.addf } ins(%x, %y : tensor<13x1x1xf32>, tensor<13x1x1xf32>) outs(%e : tensor<13x1x1xf32>)
  %s = tensor.extract_slice %z[0, 0, 0] [5, 1, 1] [3, 1, 1] : tensor<13x1x1xf32> to tensor<5x1xf32>
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %sum = linalg.reduce { arith.addf } ins(%s : tensor<5x1xf32>) outs(%zero : tensor<1xf32>) dimensions = [0]
  return %sum, %s : tensor<1xf32>, tensor<5x1xf32>
}
