// RUN: drawloom-opt %s --cpu-prefetch-tiles | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Members of a tile are owners by number, and each owner has its range of rows:
// the next range does not begin where this one ends. The first two rows of the
// owner sixteen members ahead are asked for, which may be one of the next tile,
// where the array has them: it may be empty. Within a range no row behind its
// end is asked for. Owners that no iteration reads may be any number.
// CHECK-LABEL: func.func @ranges_of_owners
// CHECK: scf.for %[[MEMBER:.*]] = %c0 to %c16
// CHECK: %[[AHEAD:.*]] = arith.addi %[[MEMBER]], %{{.*}}
// CHECK: arith.divui
// CHECK: arith.remui
// CHECK: %[[OWNER:.*]] = memref.load %{{.*}} : memref<?x16xi32>
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[OWNER]]
// CHECK: %[[LEAST:.*]] = arith.maxsi %[[NUMBER]]
// CHECK: %[[IN_RANGES:.*]] = arith.minsi %[[LEAST]]
// CHECK: memref.load %{{.*}}[%[[IN_RANGES]]] : memref<?xi32>
// CHECK: %[[THERE:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}} : index
// CHECK-NEXT: scf.if %[[THERE]]
// CHECK-COUNT-2: memref.prefetch
// CHECK: scf.if
// CHECK-COUNT-2: memref.prefetch
// CHECK: scf.for %[[AT:.*]] = %[[FIRST:.*]] to %[[LAST:.*]] step
// CHECK: arith.subi %[[LAST]]
// CHECK: arith.minsi
// CHECK-COUNT-2: memref.prefetch
// CHECK-NOT: memref.prefetch
func.func @ranges_of_owners(%x: memref<1xf32>, %members: memref<1xi32>, %starts: memref<1xi32>, %given: memref<1xi32>, %tiles: index,
                            %owners: index, %rows: index, %edges: index, %y: memref<4x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %table = memref.reinterpret_cast %x to offset: [0], sizes: [%rows, 32], strides: [32, 1] : memref<1xf32> to memref<?x32xf32>
  %numbers = memref.reinterpret_cast %given to offset: [0], sizes: [%edges], strides: [1] : memref<1xi32> to memref<?xi32>
  %ranges = memref.reinterpret_cast %starts to offset: [0], sizes: [%owners], strides: [1] : memref<1xi32> to memref<?xi32>
  %lists = memref.reinterpret_cast %members to offset: [0], sizes: [%tiles, 16], strides: [16, 1] : memref<1xi32> to memref<?x16xi32>
  scf.forall (%block) in (4) {
    %list = memref.subview %lists[%block, 0] [1, 16] [1, 1] : memref<?x16xi32> to memref<16xi32, strided<[1], offset: ?>>
    scf.for %member = %c0 to %c16 step %c1 {
      %owner = memref.load %list[%member] : memref<16xi32, strided<[1], offset: ?>>
      %own = arith.index_cast %owner : i32 to index
      %begin = memref.load %ranges[%own] : memref<?xi32>
      %first = arith.index_cast %begin : i32 to index
      %next = arith.addi %own, %c1 : index
      %end = memref.load %ranges[%next] : memref<?xi32>
      %last = arith.index_cast %end : i32 to index
      scf.for %at = %first to %last step %c1 {
        %number = memref.load %numbers[%at] : memref<?xi32>
        %row = arith.index_cast %number : i32 to index
        %part = vector.transfer_read %table[%row, %c0], %zero {in_bounds = [true]} : memref<?x32xf32>, vector<32xf32>
        vector.transfer_write %part, %y[%block, %c0] {in_bounds = [true]} : vector<32xf32>, memref<4x32xf32>
      }
    }
  }
  return
}
