// RUN: drawloom-run %s --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<19xf32>, %l: tensor<19xf32>, %h: tensor<19xf32>) -> tensor<19xf32> {
  %u = arith.maximumf %l, %h : tensor<19xf32>
  %y = math.clampf %x to [%l, %u] : tensor<19xf32>
  return %y : tensor<19xf32>
}
