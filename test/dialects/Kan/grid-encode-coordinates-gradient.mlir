// RUN: %for_each M=0,1,3 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<$Mx2xf64>, %t: tensor<3x20x2xf64>)
    -> tensor<$Mx6xf64> {
  %y = kan.grid_encode %x, %t {base_resolution = 3, finest_resolution = 7}
      : tensor<$Mx2xf64>, tensor<3x20x2xf64> -> tensor<$Mx6xf64>
  return %y : tensor<$Mx6xf64>
}

func.func @gradients() {
  check.gradient @f wrt [0] in [0.05, 0.95]
  return
}
