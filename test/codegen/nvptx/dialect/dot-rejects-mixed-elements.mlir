// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -verify-diagnostics

func.func @f(%a: tensor<64x32xbf16>, %b: tensor<32x64xf16>, %c: tensor<64x64xf32>) {
  // expected-error @+1 {{multiplies different element types}}
  %d = tile.dot %a, %b, %c : tensor<64x32xbf16>, tensor<32x64xf16>, tensor<64x64xf32>
  return
}
