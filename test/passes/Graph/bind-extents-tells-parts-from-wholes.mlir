// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --bind-extents | FileCheck %s

// Half of the rows are not as many as all.
// CHECK-LABEL: @half(
// CHECK-SAME: %{{.*}}: tensor<?x8xf32> {drawloom.extents = array<i64: 0, -1>}) -> tensor<?x8xf32> {
func.func @half(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %h = arith.divui %n, %c2 : index
  %s = tensor.extract_slice %x[0, 0] [%h, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  return %s : tensor<?x8xf32>
}

// CHECK-LABEL: @columns(
// CHECK-SAME: -> (tensor<?x4xf32> {drawloom.extents = array<i64: 0, -1>})
func.func @columns(%x: tensor<?x8xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %s = tensor.extract_slice %x[0, 2] [%n, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  return %s : tensor<?x4xf32>
}

// Rows of another number that are put into some are not as many as these.
// CHECK-LABEL: @insert(
// CHECK-SAME: drawloom.extents = array<i64: 0, -1>}, %{{.*}}: tensor<?x8xf32> {drawloom.extents = array<i64: 1, -1>})
func.func @insert(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %y, %c0 : tensor<?x8xf32>
  %s = tensor.insert_slice %y into %x[0, 0] [%m, 8] [1, 1] : tensor<?x8xf32> into tensor<?x8xf32>
  return %s : tensor<?x8xf32>
}
