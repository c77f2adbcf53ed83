// RUN: drawloom-opt %s --fold-zero-element-tensors --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK: func.func @sum
// CHECK-SAME: attributes {drawloom.no_given_rows}
// CHECK-NOT: linalg.vecmat
func.func @sum(%x: tensor<0xf32> {drawloom.given_dims = array<i64: 0>}, %w: tensor<0x4xf32> {drawloom.given_dims = array<i64: 0>}, %s: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.vecmat ins(%x, %w : tensor<0xf32>, tensor<0x4xf32>) outs(%s : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// What the program's text says is empty is in no program for any rows either.
// CHECK: func.func @said
// CHECK-NOT: no_given_rows
// CHECK: return
func.func @said(%x: tensor<0xf32>, %w: tensor<0x4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.vecmat ins(%x, %w : tensor<0xf32>, tensor<0x4xf32>) outs(%s : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
