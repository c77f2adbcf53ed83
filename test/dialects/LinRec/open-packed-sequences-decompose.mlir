// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --decompose-graph --canonicalize --bind-extents --canonicalize | FileCheck %s

// Starts say how many sequences there are, which states have, too.
// CHECK-LABEL: @f(
// CHECK-SAME: %[[STARTS:[a-z0-9]*]]: tensor<?xi32> {drawloom.extents = array<i64: 4294967297>}
// CHECK-SAME: -> (tensor<1x?x4x6xf32> {drawloom.extents = array<i64: -1, 0, -1, -1>}, tensor<?x4x8x6xf32> {drawloom.extents = array<i64: 1, -1, -1, -1>})
// CHECK: %[[ENTRIES:.*]] = tensor.dim %[[STARTS]]
// CHECK: %[[SEQUENCES:.*]] = arith.subi %[[ENTRIES]], %c1
// CHECK: scf.forall {{.*}} in (%[[SEQUENCES]], 4)
func.func @f(%q: tensor<1x?x4x8xf32>, %k: tensor<1x?x4x8xf32>, %v: tensor<1x?x4x6xf32>, %starts: tensor<?xi32>) -> (tensor<1x?x4x6xf32>, tensor<?x4x8x6xf32>) {
  %0:2 = linrec.scan %q, %k, %v starts(%starts)
      : (tensor<1x?x4x8xf32>, tensor<1x?x4x8xf32>, tensor<1x?x4x6xf32>, tensor<?xi32>) -> (tensor<1x?x4x6xf32>, tensor<?x4x8x6xf32>)
  return %0#0, %0#1 : tensor<1x?x4x6xf32>, tensor<?x4x8x6xf32>
}

// Gradients of initial states are as many.
// CHECK-LABEL: @gradient(
// CHECK-SAME: %[[INITIAL:[a-z0-9]*]]: tensor<?x4x8x6xf32> {drawloom.extents = array<i64: 1, -1, -1, -1>}, %{{.*}}: tensor<?xi32> {drawloom.extents = array<i64: 4294967297>}
// CHECK-SAME: -> (tensor<?x4x8x6xf32> {drawloom.extents = array<i64: 1, -1, -1, -1>})
// CHECK-NOT: cf.assert
// CHECK: %[[SEQUENCES:.*]] = tensor.dim %[[INITIAL]], %c0
// CHECK: scf.forall {{.*}} in (%[[SEQUENCES]], 4)
func.func @gradient(%q: tensor<1x?x4x8xf32>, %k: tensor<1x?x4x8xf32>, %v: tensor<1x?x4x6xf32>, %initial: tensor<?x4x8x6xf32>, %starts: tensor<?xi32>, %d_o: tensor<1x?x4x6xf32>, %d_final: tensor<?x4x8x6xf32>) -> tensor<?x4x8x6xf32> {
  %0:4 = linrec.scan_bwd %q, %k, %v initial(%initial) starts(%starts) cotangents(%d_o, %d_final)
      : (tensor<1x?x4x8xf32>, tensor<1x?x4x8xf32>, tensor<1x?x4x6xf32>, tensor<?x4x8x6xf32>, tensor<?xi32>, tensor<1x?x4x6xf32>, tensor<?x4x8x6xf32>) -> (tensor<1x?x4x8xf32>, tensor<1x?x4x8xf32>, tensor<1x?x4x6xf32>, tensor<?x4x8x6xf32>)
  return %0#3 : tensor<?x4x8x6xf32>
}
