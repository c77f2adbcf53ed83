// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --bind-extents -split-input-file | FileCheck %s

// Boundaries are one more than what lies between them: 4294967296 is 2^32 times what there is more.
// CHECK-LABEL: @told_by_both
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32> {drawloom.extents = array<i64: 0, -1>}
// CHECK-SAME: %{{.*}}: tensor<?xi32> {drawloom.extents = array<i64: 4294967296>}
// CHECK-SAME: -> (tensor<?x4xf32> {drawloom.extents = array<i64: 0, -1>})
// CHECK: %[[N:.*]] = tensor.dim %[[X]], %{{.*}} : tensor<?x4xf32>
// CHECK-NOT: tensor.dim
// CHECK: tensor.empty(%[[N]])
func.func @told_by_both(%x: tensor<?x4xf32>, %starts: tensor<?xi32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %entries = tensor.dim %starts, %c0 : tensor<?xi32>
  %less = arith.subi %entries, %c1 : index
  %same = arith.cmpi eq, %n, %less : index
  cf.assert %same, "starts have one entry more"
  %empty = tensor.empty(%less) : tensor<?x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x4xf32>) outs(%empty : tensor<?x4xf32>) {
  ^bb0(%e: f32, %o: f32):
    %s = arith.addf %e, %e : f32
    linalg.yield %s : f32
  } -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// The same, with what is counted down on the left.
// CHECK-LABEL: @told_the_other_way_round
// CHECK-SAME: %{{.*}}: tensor<?x4xf32> {drawloom.extents = array<i64: 0, -1>}
// CHECK-SAME: %{{.*}}: tensor<?xi32> {drawloom.extents = array<i64: 4294967296>}
func.func @told_the_other_way_round(%x: tensor<?x4xf32>, %starts: tensor<?xi32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %entries = tensor.dim %starts, %c0 : tensor<?xi32>
  %less = arith.subi %entries, %c1 : index
  %same = arith.cmpi eq, %less, %n : index
  cf.assert %same, "starts have one entry more"
  return %x : tensor<?x4xf32>
}

// -----

// Where only the boundaries are given, they say how many there are.
// CHECK-LABEL: @told_by_boundaries
// CHECK-SAME: %[[S:.*]]: tensor<?xi32> {drawloom.extents = array<i64: 4294967296>}
// CHECK-SAME: -> (tensor<?xf32> {drawloom.extents = array<i64: 0>})
// CHECK: %[[ENTRIES:.*]] = tensor.dim %[[S]]
// CHECK: %[[N:.*]] = arith.subi %[[ENTRIES]], %{{.*}}
// CHECK: tensor.empty(%[[N]])
func.func @told_by_boundaries(%starts: tensor<?xi32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %entries = tensor.dim %starts, %c0 : tensor<?xi32>
  %n = arith.subi %entries, %c1 : index
  %empty = tensor.empty(%n) : tensor<?xf32>
  %sizes = scf.forall (%i) in (%n) shared_outs(%out = %empty) -> tensor<?xf32> {
    %next = arith.addi %i, %c1 : index
    %first = tensor.extract %starts[%i] : tensor<?xi32>
    %last = tensor.extract %starts[%next] : tensor<?xi32>
    %size = arith.subi %last, %first : i32
    %float = arith.sitofp %size : i32 to f32
    %tile = tensor.from_elements %float : tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %tile into %out[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
    }
  }
  return %sizes : tensor<?xf32>
}

// -----

// No program counts so far: these are two extents.
// CHECK-LABEL: @too_far
// CHECK-SAME: %{{.*}}: tensor<?xf32> {drawloom.extents = array<i64: 0>}
// CHECK-SAME: %{{.*}}: tensor<?xi32> {drawloom.extents = array<i64: 1>}
func.func @too_far(%x: tensor<?xf32>, %starts: tensor<?xi32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %far = arith.constant 5000000000 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %entries = tensor.dim %starts, %c0 : tensor<?xi32>
  %less = arith.subi %entries, %far : index
  %same = arith.cmpi eq, %n, %less : index
  cf.assert %same, "too many"
  return %x : tensor<?xf32>
}
