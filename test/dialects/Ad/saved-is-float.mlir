// RUN: drawloom-opt %s --verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<4xi32>, %kept: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error@+1 {{keeps a 'tensor<4xi32>', which has no derivative: it must be a float or a ranked tensor of floats}}
  %a = ad.saved %x as %kept : tensor<4xi32>
  return %a : tensor<4xi32>
}
