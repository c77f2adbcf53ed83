// RUN: drawloom-opt %s --fuse-rows=wide-products | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What it reads and writes of memory has no part in the budget: 64 rows.
// CHECK-LABEL: func.func @sparse
// CHECK: scf.forall
// CHECK: slr.sparse_linear {{.*}} : tensor<64x2048xf32>
func.func @sparse(%x: tensor<?x2048xf32> {drawloom.extents = array<i64: 0, -1>}, %v: tensor<9x1x1xf32>, %a: tensor<2049xi32>, %b: tensor<9xi32>, %c: tensor<2049xi32>, %d: tensor<9xi32>, %e: tensor<9xi32>)
    -> (tensor<?x2048xf32> {drawloom.extents = array<i64: 0, -1>}) {
  %y = slr.sparse_linear %x, %v at (%a, %b, %c, %d, %e) : tensor<?x2048xf32>, tensor<9x1x1xf32>, (tensor<2049xi32>, tensor<9xi32>, tensor<2049xi32>, tensor<9xi32>, tensor<9xi32>) -> tensor<?x2048xf32>
  return %y : tensor<?x2048xf32>
}
