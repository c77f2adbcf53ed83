// RUN: drawloom-run %s --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The stride of a dropped extent says nothing.
func.func @f(%a: tensor<2x2x2xf32>) -> tensor<1x1xf32> {
  %s = tensor.extract_slice %a[0, 0, 1] [1, 1, 1] [2, 1, 1] : tensor<2x2x2xf32> to tensor<1x1xf32>
  %y = math.exp %s : tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}
