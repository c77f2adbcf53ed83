// RUN: drawloom-run %s --entry=gradient --target=emulator --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One block of tens of thousands of instructions, which the emulator's code
// generation takes in pieces.
func.func private @loss(%a0: tensor<32x9xf32>, %a1: tensor<32xf32>, %a2: tensor<1x6xf32>, %a3: tensor<4x3xf32>, %a4: tensor<3x3x1xf32>) -> (tensor<f32>) {
  %v1 = linalg.reduce { arith.addf } ins(%a0 : tensor<32x9xf32>) outs(%a1 : tensor<32xf32>) dimensions = [1]
  %v3 = tensor.empty() : tensor<9x9x32xf32>
  %v2 = linalg.broadcast ins(%v1 : tensor<32xf32>) outs(%v3 : tensor<9x9x32xf32>) dimensions = [0, 1]
  %v4 = arith.constant dense<0.125> : tensor<9x9x32xf32>
  %v5 = arith.mulf %v2, %v4 : tensor<9x9x32xf32>
  %v6 = kan.rational %v5, %a2, %a3 form(abs_sum_eps) : tensor<9x9x32xf32>, tensor<1x6xf32>, tensor<4x3xf32>
  %v7 = tensor.insert_slice %a4 into %v6[0, 1, 7] [3, 3, 1] [3, 3, 1] : tensor<3x3x1xf32> into tensor<9x9x32xf32>
  %v8 = arith.constant dense<0.25> : tensor<9x9x32xf32>
  %v9 = arith.mulf %v7, %v8 : tensor<9x9x32xf32>
  %v10 = loss.mse %v9, %v6 : tensor<9x9x32xf32> -> tensor<f32>
  return %v10 : tensor<f32>
}


func.func @gradient(%a: tensor<32x9xf32>, %b: tensor<32xf32>, %p: tensor<1x6xf32>, %q: tensor<4x3xf32>, %s: tensor<3x3x1xf32>)
    -> (tensor<f32>, tensor<1x6xf32>, tensor<4x3xf32>) {
  %r:3 = ad.value_and_grad @loss(%a, %b, %p, %q, %s) wrt [2, 3]
    : (tensor<32x9xf32>, tensor<32xf32>, tensor<1x6xf32>, tensor<4x3xf32>, tensor<3x3x1xf32>) -> (tensor<f32>, tensor<1x6xf32>, tensor<4x3xf32>)
  return %r#0, %r#1, %r#2 : tensor<f32>, tensor<1x6xf32>, tensor<4x3xf32>
}
