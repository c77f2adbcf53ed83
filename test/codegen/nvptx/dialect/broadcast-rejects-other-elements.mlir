// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -verify-diagnostics

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{changes the element type}}
  %0 = tile.broadcast %x along [1] : tensor<8xf32> -> tensor<4x8xf64>
  return
}
