// RUN: drawloom-run %s --random --compare=interpreter
// RUN: drawloom-run %s --target=emulator --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A slice with steps drops one of two extents of 1.
func.func @steps(%x: tensor<1x4x1xf32>, %y: tensor<2x1xf32>) -> (tensor<2x1xf32>, tensor<1x4x1xf32>) {
  %e = math.exp %x : tensor<1x4x1xf32>
  %s = tensor.extract_slice %e[0, 1, 0] [1, 2, 1] [1, 2, 1] : tensor<1x4x1xf32> to tensor<2x1xf32>
  %t = math.tanh %s : tensor<2x1xf32>
  %w = tensor.insert_slice %y into %e[0, 0, 0] [1, 2, 1] [1, 2, 1] : tensor<2x1xf32> into tensor<1x4x1xf32>
  return %t, %w : tensor<2x1xf32>, tensor<1x4x1xf32>
}
