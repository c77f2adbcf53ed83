// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -verify-diagnostics

func.func @f(%x: tensor<16x64xf32>) {
  // expected-error @+1 {{of 'tensor<16x64xf32>' cannot give 'tensor<64xf32>'}}
  %0 = tile.reduce add %x along [1] : tensor<16x64xf32> -> tensor<64xf32>
  return
}
