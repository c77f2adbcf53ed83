// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<8xf32>, %o: tensor<8xbf16>) -> tensor<8xbf16> {
  // expected-error @+1 {{needs the element type of the input, or a wider float type, in init, got 'f32' and 'bf16'}}
  %0 = block.scan add %x along 0 outs(%o) : tensor<8xf32> -> tensor<8xbf16>
  return %0 : tensor<8xbf16>
}
