// RUN: drawloom-run %s --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is stored, and what it is stored into, is one value.
func.func @itself(%x: tensor<3x7xf32>, %at: tensor<i32>) -> tensor<3x28xf32> {
  %y = kan.frequency_encode %x {octaves = 2} : tensor<3x7xf32> -> tensor<3x28xf32>
  %i = tensor.extract %at[] : tensor<i32>
  %offset = arith.index_cast %i : i32 to index
  %r = tensor.insert_slice %y into %y[%offset, 0] [3, 28] [1, 1] : tensor<3x28xf32> into tensor<3x28xf32>
  return %r : tensor<3x28xf32>
}
