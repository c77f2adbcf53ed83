// RUN: drawloom-run %s --entry=narrow --print | FileCheck %s
// RUN: drawloom-run %s --entry=narrow --print --isa=avx2 | FileCheck %s
// RUN: drawloom-run %s --entry=narrow --print --target=interpreter | FileCheck %s
// RUN: drawloom-run %s --entry=signs --print | FileCheck %s --check-prefix=SIGNS
// RUN: drawloom-run %s --entry=signs --print --isa=avx2 | FileCheck %s --check-prefix=SIGNS
// RUN: drawloom-run %s --entry=signs --print --target=interpreter | FileCheck %s --check-prefix=SIGNS

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

// On both sides of the middle, and below zero too: which way f32 has rounded is
// seen in absolute values.
// SIGNS: [1, 1.007812, -1, -1.007812]
func.func @signs() -> tensor<4xbf16> {
  %x = arith.constant dense<[1.00390624906868, 1.00390625093132, -1.00390624906868, -1.00390625093132]> : tensor<4xf64>
  %y = arith.truncf %x : tensor<4xf64> to tensor<4xbf16>
  return %y : tensor<4xbf16>
}
