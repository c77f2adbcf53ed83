// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --bind-extents --canonicalize | FileCheck %s

// What is asserted to be the same is one extent, which calls are checked for: the assertion holds.
// CHECK-LABEL: @f(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32> {drawloom.extents = array<i64: 0, -1>}, %[[Y:.*]]: tensor<4x?xf32> {drawloom.extents = array<i64: -1, 0>}
// CHECK-NOT: cf.assert
// CHECK: return
func.func @f(%x: tensor<?x4xf32>, %y: tensor<4x?xf32>) -> (tensor<?x4xf32>, tensor<4x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %m = tensor.dim %y, %c1 : tensor<4x?xf32>
  %same = arith.cmpi eq, %n, %m : index
  cf.assert %same, "as many rows as columns"
  return %x, %y : tensor<?x4xf32>, tensor<4x?xf32>
}
