// RUN: drawloom-opt %s --cpu-prefetch-tiles | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Where extents are those of a call, a table may be large.
// CHECK-LABEL: func.func @of_any_size
// CHECK-COUNT-2: memref.prefetch
// CHECK-NOT: memref.prefetch
// CHECK: vector.transfer_read
func.func @of_any_size(%x: memref<1xf32>, %given: memref<1xi32>, %rows: index, %edges: index, %y: memref<4x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %zero = arith.constant 0.0 : f32
  %table = memref.reinterpret_cast %x to offset: [0], sizes: [%rows, 32], strides: [32, 1] : memref<1xf32> to memref<?x32xf32>
  %numbers = memref.reinterpret_cast %given to offset: [0], sizes: [%edges], strides: [1] : memref<1xi32> to memref<?xi32>
  scf.forall (%block) in (4) {
    %first = arith.muli %block, %c10 : index
    %last = arith.addi %first, %c10 : index
    scf.for %at = %first to %last step %c1 {
      %number = memref.load %numbers[%at] : memref<?xi32>
      %row = arith.index_cast %number : i32 to index
      %part = vector.transfer_read %table[%row, %c0], %zero {in_bounds = [true]} : memref<?x32xf32>, vector<32xf32>
      vector.transfer_write %part, %y[%block, %c0] {in_bounds = [true]} : vector<32xf32>, memref<4x32xf32>
    }
  }
  return
}
