// RUN: drawloom-run %s --entry=swapped --random --seed=1 --compare=interpreter
// RUN: drawloom-run %s --entry=swapped --random --seed=2 --compare=interpreter
// RUN: drawloom-run %s --entry=gradients --random --seed=1 --compare=interpreter
// RUN: drawloom-run %s --entry=gradients --random --seed=2 --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What stands in front of a condition is one result in one branch and the
// other in the other: it may not lie in the memory of either.
func.func @swapped(%x: tensor<5xf32>, %y: tensor<5xf32>, %c: tensor<i1>) -> (tensor<5xf32>, tensor<5xf32>) {
  %z = math.exp %x : tensor<5xf32>
  %take = tensor.extract %c[] : tensor<i1>
  %a, %b = scf.if %take -> (tensor<5xf32>, tensor<5xf32>) {
    %t = math.tanh %y : tensor<5xf32>
    scf.yield %z, %t : tensor<5xf32>, tensor<5xf32>
  } else {
    %t = math.tanh %x : tensor<5xf32>
    scf.yield %t, %z : tensor<5xf32>, tensor<5xf32>
  }
  return %a, %b : tensor<5xf32>, tensor<5xf32>
}

// So are the zeros that are the gradient of what the other branch reads.
func.func private @loss(%x: tensor<3x3xf32>, %y: tensor<3x3xf32>, %c: tensor<i1>, %w: tensor<3x3xf32>) -> tensor<f32> {
  %take = tensor.extract %c[] : tensor<i1>
  %v = scf.if %take -> (tensor<3x3xf32>) {
    %t = kan.tanh %y : tensor<3x3xf32>
    scf.yield %t : tensor<3x3xf32>
  } else {
    %t = kan.tanh %x : tensor<3x3xf32>
    scf.yield %t : tensor<3x3xf32>
  }
  %p = linalg.matmul ins(%w, %v : tensor<3x3xf32>, tensor<3x3xf32>) outs(%w : tensor<3x3xf32>) -> tensor<3x3xf32>
  %l = loss.mse %p, %w : tensor<3x3xf32> -> tensor<f32>
  return %l : tensor<f32>
}
func.func @gradients(%x: tensor<3x3xf32>, %y: tensor<3x3xf32>, %c: tensor<i1>, %w: tensor<3x3xf32>)
    -> (tensor<f32>, tensor<3x3xf32>, tensor<3x3xf32>) {
  %r:3 = ad.value_and_grad @loss(%x, %y, %c, %w) wrt [0, 1]
    : (tensor<3x3xf32>, tensor<3x3xf32>, tensor<i1>, tensor<3x3xf32>) -> (tensor<f32>, tensor<3x3xf32>, tensor<3x3xf32>)
  return %r#0, %r#1, %r#2 : tensor<f32>, tensor<3x3xf32>, tensor<3x3xf32>
}
