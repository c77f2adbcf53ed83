// RUN: drawloom-run %s --random --compare=interpreter | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Constants alone have no rows to fuse along.
// CHECK: result0: {{.*}}: passed
func.func @f() -> tensor<f32> {
  %y = arith.constant dense<0.0> : tensor<3x16xf32>
  %x = arith.constant dense<0.125> : tensor<3x16xf32>
  %l = loss.mse %x, %y : tensor<3x16xf32> -> tensor<f32>
  return %l : tensor<f32>
}
