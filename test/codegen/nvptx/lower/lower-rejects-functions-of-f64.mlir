// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: not drawloom-run %s --random --target=emulator 2>&1 | FileCheck %s

// CHECK: lower-rejects-functions-of-f64.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error:
// CHECK-SAME: 'math.erf' op of 'f64' has no code on a GPU: write it by functions that have, in f32, or compute the function on the CPU
func.func @f(%x: tensor<64xf64>) -> tensor<64xf64> {
  %y = math.erf %x : tensor<64xf64>
  return %y : tensor<64xf64>
}
