// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --decompose-graph --canonicalize --cse | FileCheck %s

// Rows at, at + 1, ... below %end: no number is asked for, and rows that there
// are not are zeros.
// CHECK-LABEL: @gathered
// CHECK: %[[BEFORE:.*]] = arith.cmpi slt, %arg2, %c0
// CHECK: %[[FIRST:.*]] = arith.select %[[BEFORE]], %{{.*}}, %c0
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c0 to %[[FIRST]]
// CHECK: linalg.fill
// CHECK: scf.for %{{.*}} = %[[LAST:.*]] to %c16
// CHECK: linalg.fill
// CHECK: %[[COUNT:.*]] = arith.subi %[[LAST]], %[[FIRST]]
// CHECK: %[[ROWS:.*]] = tensor.extract_slice %arg0[%{{.*}}, 0] [%[[COUNT]], 64]
// CHECK: tensor.insert_slice %[[ROWS]] into %{{.*}}[%[[FIRST]], 0] [%[[COUNT]], 64]
// CHECK-NOT: block.
func.func @gathered(%x: tensor<?x64xf32>, %init: tensor<16x64xf32>, %at: index, %end: index) -> tensor<16x64xf32> {
  %none = arith.constant -1 : index
  %empty = tensor.empty() : tensor<16xindex>
  %rows = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%empty : tensor<16xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    %row = arith.addi %at, %i : index
    %inside = arith.cmpi slt, %row, %end : index
    %number = arith.select %inside, %row, %none : index
    linalg.yield %number : index
  } -> tensor<16xindex>
  %0 = block.gather %x[%rows] outs(%init) : tensor<?x64xf32>[tensor<16xindex>] -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}
// CHECK-LABEL: @scattered
// CHECK-NOT: scf.if
// CHECK: %[[ROWS:.*]] = tensor.extract_slice %arg1[%[[FIRST:.*]], 0] [%[[COUNT:.*]], 64]
// CHECK: tensor.insert_slice %[[ROWS]] into %arg0[%{{.*}}, 0] [%[[COUNT]], 64]
func.func @scattered(%x: tensor<?x64xf32>, %tile: tensor<16x64xf32>, %at: index, %end: index) -> tensor<?x64xf32> {
  %none = arith.constant -1 : index
  %empty = tensor.empty() : tensor<16xindex>
  %rows = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%empty : tensor<16xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    %row = arith.addi %at, %i : index
    %inside = arith.cmpi slt, %row, %end : index
    %number = arith.select %inside, %row, %none : index
    linalg.yield %number : index
  } -> tensor<16xindex>
  %0 = block.scatter %tile into %x[%rows] : tensor<16x64xf32> into tensor<?x64xf32>[tensor<16xindex>]
  return %0 : tensor<?x64xf32>
}

// What is added to rows is added row by row.
// CHECK-LABEL: @added
// CHECK-NOT: scf.if
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step
// CHECK: arith.addi %arg2, %[[I]]
// CHECK: arith.addf
func.func @added(%x: tensor<?x64xf32>, %tile: tensor<16x64xf32>, %at: index, %end: index) -> tensor<?x64xf32> {
  %none = arith.constant -1 : index
  %two = arith.constant 2 : index
  %zero = arith.constant 0 : index
  %empty = tensor.empty() : tensor<16xindex>
  %rows = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%empty : tensor<16xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    %row = arith.addi %i, %at : index
    %inside = arith.cmpi slt, %row, %end : index
    %number = arith.select %inside, %row, %none : index
    linalg.yield %number : index
  } -> tensor<16xindex>
  %0 = block.scatter accumulate %tile into %x[%rows] : tensor<16x64xf32> into tensor<?x64xf32>[tensor<16xindex>]
  return %0 : tensor<?x64xf32>
}

// From the first row on.
// CHECK-LABEL: @from_the_first
// CHECK-NOT: scf.if
// CHECK: tensor.extract_slice %arg0[0, 0] [%[[COUNT:.*]], 64]
// CHECK: tensor.insert_slice
func.func @from_the_first(%x: tensor<?x64xf32>, %init: tensor<16x64xf32>, %at: index, %end: index) -> tensor<16x64xf32> {
  %none = arith.constant -1 : index
  %two = arith.constant 2 : index
  %zero = arith.constant 0 : index
  %empty = tensor.empty() : tensor<16xindex>
  %rows = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%empty : tensor<16xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    %inside = arith.cmpi slt, %i, %end : index
    %number = arith.select %inside, %i, %none : index
    linalg.yield %number : index
  } -> tensor<16xindex>
  %0 = block.gather %x[%rows] outs(%init) : tensor<?x64xf32>[tensor<16xindex>] -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// Every second row: a number each.
// CHECK-LABEL: @every_second
// CHECK: scf.for
// CHECK: tensor.extract %
// CHECK: scf.if
func.func @every_second(%x: tensor<?x64xf32>, %init: tensor<16x64xf32>, %at: index, %end: index) -> tensor<16x64xf32> {
  %none = arith.constant -1 : index
  %two = arith.constant 2 : index
  %zero = arith.constant 0 : index
  %empty = tensor.empty() : tensor<16xindex>
  %rows = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%empty : tensor<16xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    %row = arith.muli %i, %two : index
    %inside = arith.cmpi slt, %row, %end : index
    %number = arith.select %inside, %row, %none : index
    linalg.yield %number : index
  } -> tensor<16xindex>
  %0 = block.gather %x[%rows] outs(%init) : tensor<?x64xf32>[tensor<16xindex>] -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// The end is a row, too.
// CHECK-LABEL: @with_the_end
// CHECK: scf.for
// CHECK: tensor.extract %
// CHECK: scf.if
func.func @with_the_end(%x: tensor<?x64xf32>, %init: tensor<16x64xf32>, %at: index, %end: index) -> tensor<16x64xf32> {
  %none = arith.constant -1 : index
  %two = arith.constant 2 : index
  %zero = arith.constant 0 : index
  %empty = tensor.empty() : tensor<16xindex>
  %rows = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%empty : tensor<16xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    %row = arith.addi %at, %i : index
    %inside = arith.cmpi sle, %row, %end : index
    %number = arith.select %inside, %row, %none : index
    linalg.yield %number : index
  } -> tensor<16xindex>
  %0 = block.gather %x[%rows] outs(%init) : tensor<?x64xf32>[tensor<16xindex>] -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// Behind the end comes the first row again.
// CHECK-LABEL: @else_the_first
// CHECK: scf.for
// CHECK: tensor.extract %
// CHECK: scf.if
func.func @else_the_first(%x: tensor<?x64xf32>, %init: tensor<16x64xf32>, %at: index, %end: index) -> tensor<16x64xf32> {
  %none = arith.constant -1 : index
  %two = arith.constant 2 : index
  %zero = arith.constant 0 : index
  %empty = tensor.empty() : tensor<16xindex>
  %rows = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%empty : tensor<16xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    %row = arith.addi %at, %i : index
    %inside = arith.cmpi slt, %row, %end : index
    %number = arith.select %inside, %row, %zero : index
    linalg.yield %number : index
  } -> tensor<16xindex>
  %0 = block.gather %x[%rows] outs(%init) : tensor<?x64xf32>[tensor<16xindex>] -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// How wide rows of the table are, only a call knows.
// CHECK-LABEL: @of_any_width
// CHECK: scf.for
// CHECK: tensor.extract %
// CHECK: scf.if
func.func @of_any_width(%x: tensor<?x?xf32>, %init: tensor<16x64xf32>, %at: index, %end: index) -> tensor<16x64xf32> {
  %none = arith.constant -1 : index
  %two = arith.constant 2 : index
  %zero = arith.constant 0 : index
  %empty = tensor.empty() : tensor<16xindex>
  %rows = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%empty : tensor<16xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    %row = arith.addi %at, %i : index
    %inside = arith.cmpi slt, %row, %end : index
    %number = arith.select %inside, %row, %none : index
    linalg.yield %number : index
  } -> tensor<16xindex>
  %0 = block.gather %x[%rows] outs(%init) : tensor<?x?xf32>[tensor<16xindex>] -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}
