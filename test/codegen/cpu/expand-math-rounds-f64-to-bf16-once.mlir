// RUN: drawloom-run %s --print | FileCheck %s
// RUN: drawloom-run %s --print --isa=avx2 | FileCheck %s
// RUN: drawloom-run %s --print --target=interpreter | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A number just below the middle of 1 and the next one of bf16 is rounded down;
// by way of f32 it would be the middle, and rounded up.
// CHECK: [1, 1, 1, 1]
func.func @narrow() -> tensor<4xbf16> {
  %x = arith.constant dense<1.00390624906868> : tensor<4xf64>
  %y = arith.truncf %x : tensor<4xf64> to tensor<4xbf16>
  return %y : tensor<4xbf16>
}
