// RUN: drawloom-opt %s --fold-zero-element-tensors --verify-semantics | FileCheck %s
// RUN: drawloom-run %s --entry=joins --random --compare=interpreter
// RUN: drawloom-run %s --entry=inserts --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: func.func @joins
// CHECK: tensor.concat dim(1) %[[E:.*]], %[[E]] : (tensor<3x4xf32>, tensor<3x4xf32>)
func.func @joins(%x: tensor<3x4xf32>, %none: tensor<3x0xf32>, %y: tensor<2x1xf32>) -> tensor<3x8xf32> {
  %e = math.exp %x : tensor<3x4xf32>
  %all = tensor.concat dim(1) %e, %none, %e : (tensor<3x4xf32>, tensor<3x0xf32>, tensor<3x4xf32>) -> tensor<3x8xf32>
  %w = tensor.insert_slice %y into %all[1, 7] [2, 1] [1, 1] : tensor<2x1xf32> into tensor<3x8xf32>
  return %w : tensor<3x8xf32>
}

// CHECK-LABEL: func.func @inserts
// CHECK: %[[E:.*]] = math.exp
// CHECK-NEXT: return %[[E]]
func.func @inserts(%x: tensor<3x4xf32>, %none: tensor<2x0xf32>) -> tensor<3x4xf32> {
  %e = math.exp %x : tensor<3x4xf32>
  %w = tensor.insert_slice %none into %e[1, 2] [2, 0] [1, 1] : tensor<2x0xf32> into tensor<3x4xf32>
  return %w : tensor<3x4xf32>
}
