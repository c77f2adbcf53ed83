// RUN: drawloom-run %s --entry=later --random --compare=interpreter
// RUN: drawloom-run %s --entry=earlier --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The changed value may not be made in the memory of the result that holds the
// unchanged one, nor the other way round.
func.func @later(%s: tensor<1x3xf32>, %q: tensor<8x5xf32>) -> (tensor<8x5xf32>, tensor<8x5xf32>) {
  %z = math.exp %q : tensor<8x5xf32>
  %r = tensor.insert_slice %s into %z[2, 1] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<8x5xf32>
  return %r, %z : tensor<8x5xf32>, tensor<8x5xf32>
}
func.func @earlier(%s: tensor<1x3xf32>, %q: tensor<8x5xf32>) -> (tensor<8x5xf32>, tensor<8x5xf32>) {
  %z = math.exp %q : tensor<8x5xf32>
  %r = tensor.insert_slice %s into %z[2, 1] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<8x5xf32>
  return %z, %r : tensor<8x5xf32>, tensor<8x5xf32>
}
