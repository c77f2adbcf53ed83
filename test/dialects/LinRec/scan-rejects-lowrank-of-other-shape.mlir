// RUN: drawloom-opt %s -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @rejected(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %erase: tensor<2x5x4x8xf32>, %lowrank: tensor<2x5x3x8xf32>) {
  // expected-error @below {{lowrank must have shape 2x5x4x8, but has 2x5x3x8}}
  %0:2 = linrec.scan %q, %k, %v erase(%erase) lowrank(%lowrank)
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x8xf32>, tensor<2x5x3x8xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>)
  return
}
