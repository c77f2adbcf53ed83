// RUN: drawloom-opt %s --verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<?x3xf16>, %c: tensor<12x3x4xf16>) -> tensor<?x4xf16> {
  // expected-error @+1 {{'kan.edge_layer' op function 7 of bessel overflows 'f16' at 1}}
  %y = kan.edge_layer %x, %c by bessel : tensor<?x3xf16>, tensor<12x3x4xf16> -> tensor<?x4xf16>
  return %y : tensor<?x4xf16>
}
