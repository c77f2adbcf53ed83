// RUN: drawloom-run %s --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Each of three states of one tensor is returned, in an order that is not that
// of the changes.
func.func @states(%s: tensor<1x3xf32>, %q: tensor<8x5xf32>)
    -> (tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>) {
  %z = math.exp %q : tensor<8x5xf32>
  %r = tensor.insert_slice %s into %z[2, 1] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<8x5xf32>
  %t = tensor.insert_slice %s into %r[4, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<8x5xf32>
  return %r, %t, %z, %r : tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>
}
