// RUN: drawloom-run %s --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Coordinates 0 and 1 are inside: only beyond them does nothing change.
func.func private @encode(%x: tensor<4x2xf32>, %t: tensor<1x9x1xf32>) -> tensor<4x1xf32> {
  %y = kan.grid_encode %x, %t {base_resolution = 2, growth = 1.0}
      : tensor<4x2xf32>, tensor<1x9x1xf32> -> tensor<4x1xf32>
  return %y : tensor<4x1xf32>
}
func.func @slopes(%t: tensor<1x9x1xf32>, %g: tensor<4x1xf32>) -> tensor<4x2xf32> {
  %x = arith.constant dense<[[1.0, 0.25], [0.0, 1.0], [1.5, 0.0], [-0.5, 1.0]]> : tensor<4x2xf32>
  %r:2 = ad.vjp @encode(%x, %t) cotangents(%g) wrt [0] : (tensor<4x2xf32>, tensor<1x9x1xf32>) -> (tensor<4x1xf32>, tensor<4x2xf32>)
  return %r#1 : tensor<4x2xf32>
}
