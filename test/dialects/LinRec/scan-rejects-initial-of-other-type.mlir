// RUN: drawloom-opt %s -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @rejected(%q: tensor<2x5x4x8xbf16>, %k: tensor<2x5x4x8xbf16>, %v: tensor<2x5x4x6xbf16>, %initial: tensor<2x4x8x6xbf16>) {
  // expected-error @below {{initial must be of 'f32' for v of 'bf16', but is 'tensor<2x4x8x6xbf16>'}}
  %0:2 = linrec.scan %q, %k, %v initial(%initial)
      : (tensor<2x5x4x8xbf16>, tensor<2x5x4x8xbf16>, tensor<2x5x4x6xbf16>, tensor<2x4x8x6xbf16>) -> (tensor<2x5x4x6xbf16>, tensor<2x4x8x6xf32>)
  return
}
