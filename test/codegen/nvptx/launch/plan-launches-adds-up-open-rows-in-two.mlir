// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-run %s --open --target=emulator --entry=train --compile-to=tiles | FileCheck %s
// RUN: drawloom-run %s --open --target=emulator --entry=train --random --shape=0:17x16 --shape=3:17x16 --compare=interpreter

// A training step of any number of rows is two launches, as it is of a known one: partial sums of whole tiles and of those that are left
// over, then sums of all of them. Memory for these does not grow with the rows.
// CHECK: drawloom.plan
// CHECK-SAME: {\22kernel\22:\22train_0\22
// CHECK-SAME: {\22kernel\22:\22train_1\22
// CHECK-NOT: \22kernel\22:\22train_2
// CHECK-SAME: \22workspace_terms\22:[]

func.func @score(%x: tensor<?x16xf32>, %w: tensor<16x32xf32>, %v: tensor<32x16xf32>) -> tensor<?x16xf32> {
  %first = arith.constant 0 : index
  %rows = tensor.dim %x, %first : tensor<?x16xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%rows) : tensor<?x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x16xf32>, tensor<16x32xf32>) outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  %p = kan.silu %y : tensor<?x32xf32>
  %empty2 = tensor.empty(%rows) : tensor<?x16xf32>
  %start2 = linalg.fill ins(%zero : f32) outs(%empty2 : tensor<?x16xf32>) -> tensor<?x16xf32>
  %z = linalg.matmul ins(%p, %v : tensor<?x32xf32>, tensor<32x16xf32>) outs(%start2 : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %z : tensor<?x16xf32>
}
func.func private @loss(%x: tensor<?x16xf32>, %w: tensor<16x32xf32>, %v: tensor<32x16xf32>, %t: tensor<?x16xf32>) -> tensor<f32> {
  %z = call @score(%x, %w, %v) : (tensor<?x16xf32>, tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<?x16xf32>
  %l = loss.mse %z, %t : tensor<?x16xf32> -> tensor<f32>
  return %l : tensor<f32>
}
func.func @train(%x: tensor<?x16xf32>, %w: tensor<16x32xf32>, %v: tensor<32x16xf32>, %t: tensor<?x16xf32>) -> (tensor<f32>, tensor<16x32xf32>, tensor<32x16xf32>) {
  %r:3 = ad.value_and_grad @loss(%x, %w, %v, %t) wrt [1, 2] : (tensor<?x16xf32>, tensor<16x32xf32>, tensor<32x16xf32>, tensor<?x16xf32>) -> (tensor<f32>, tensor<16x32xf32>, tensor<32x16xf32>)
  return %r#0, %r#1, %r#2 : tensor<f32>, tensor<16x32xf32>, tensor<32x16xf32>
}
