// RUN: drawloom-opt %s --cpu-prefetch-tiles --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rows of a table by numbers of an array: those of the numbers sixteen further
// on, also past the end of this loop, and no further than the array. 32 floats
// are two lines of cache.
// CHECK-LABEL: func.func @numbered
// CHECK: scf.for %[[AT:.+]] = %{{.+}} to %{{.+}} step %c1
// CHECK: %[[AHEAD:.+]] = arith.addi %[[AT]], %{{.+}}
// CHECK: %[[INSIDE:.+]] = arith.minsi %[[AHEAD]], %{{.+}}
// CHECK: %[[NUMBER:.+]] = memref.load %arg1[%[[INSIDE]]]
// CHECK: memref.load %arg1[%[[AT]]]
// CHECK: %[[ROW:.+]] = arith.index_cast %[[NUMBER]]
// CHECK: %[[FIRST:.+]] = arith.addi %c0
// CHECK-NEXT: memref.prefetch %arg0[%[[ROW]], %[[FIRST]]], read
// CHECK: memref.prefetch %arg0[%[[ROW]], %{{.+}}], read
// CHECK-NOT: memref.prefetch
// CHECK: vector.transfer_read
func.func @numbered(%x: memref<20000x32xf32>, %numbers: memref<40xi32>, %y: memref<4x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%block) in (4) {
    %first = arith.muli %block, %c10 : index
    %last = arith.addi %first, %c10 : index
    scf.for %at = %first to %last step %c1 {
      %number = memref.load %numbers[%at] : memref<40xi32>
      %row = arith.index_cast %number : i32 to index
      %part = vector.transfer_read %x[%row, %c0], %zero {in_bounds = [true]} : memref<20000x32xf32>, vector<32xf32>
      vector.transfer_write %part, %y[%block, %c0] {in_bounds = [true]} : vector<32xf32>, memref<4x32xf32>
    }
  }
  return
}

// A small table stays in the second-level cache.
// CHECK-LABEL: func.func @small
// CHECK-NOT: memref.prefetch
func.func @small(%x: memref<50x32xf32>, %numbers: memref<40xi32>, %y: memref<4x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%block) in (4) {
    %first = arith.muli %block, %c10 : index
    %last = arith.addi %first, %c10 : index
    scf.for %at = %first to %last step %c1 {
      %number = memref.load %numbers[%at] : memref<40xi32>
      %row = arith.index_cast %number : i32 to index
      %part = vector.transfer_read %x[%row, %c0], %zero {in_bounds = [true]} : memref<50x32xf32>, vector<32xf32>
      vector.transfer_write %part, %y[%block, %c0] {in_bounds = [true]} : vector<32xf32>, memref<4x32xf32>
    }
  }
  return
}

// Rows of two dimensions, of which a half is read at a time.
// CHECK-LABEL: func.func @heads
// CHECK-COUNT-2: memref.prefetch %arg0
// CHECK-NOT: memref.prefetch
func.func @heads(%x: memref<20000x4x16xf32>, %numbers: memref<40xi32>, %y: memref<4x2x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c10 = arith.constant 10 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%block) in (4) {
    %first = arith.muli %block, %c10 : index
    %last = arith.addi %first, %c10 : index
    scf.for %at = %first to %last step %c1 {
      %number = memref.load %numbers[%at] : memref<40xi32>
      %row = arith.index_cast %number : i32 to index
      %part = vector.transfer_read %x[%row, %c2, %c0], %zero {in_bounds = [true, true]} : memref<20000x4x16xf32>, vector<2x16xf32>
      vector.transfer_write %part, %y[%block, %c0, %c0] {in_bounds = [true, true]} : vector<2x16xf32>, memref<4x2x16xf32>
    }
  }
  return
}
