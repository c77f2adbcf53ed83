// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -verify-diagnostics

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{changes more than the layout}}
  %0 = tile.convert %x : tensor<8x4xf32> -> tensor<4x8xf32>
  return
}
