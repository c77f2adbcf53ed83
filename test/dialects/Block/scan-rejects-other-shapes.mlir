// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<8x4xf32>, %o: tensor<8x5xf32>) -> tensor<8x5xf32> {
  // expected-error @+1 {{needs the same shape in input and init, got tensor<8x4xf32> and tensor<8x5xf32>}}
  %0 = block.scan add %x along 0 outs(%o) : tensor<8x4xf32> -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}
