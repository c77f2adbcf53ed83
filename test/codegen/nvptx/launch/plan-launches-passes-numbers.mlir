// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-outline-kernels --nvptx-plan-launches | FileCheck %s
// RUN: drawloom-run %s --random --target=emulator --compare=interpreter

// CHECK: drawloom.plan
// CHECK-SAME: \22operands\22:{{\[\[}}\22scalar\22,1],[\22argument\22,0],[\22result\22,0]]
// CHECK: func.func private @f_0(%{{.*}}: f32, %{{.*}}: tensor<8xf32>) -> tensor<8xf32>
func.func @f(%x: tensor<8xf32>, %factor: f32) -> tensor<8xf32> {
  %factors = tensor.splat %factor : tensor<8xf32>
  %y = arith.mulf %x, %factors : tensor<8xf32>
  return %y : tensor<8xf32>
}
