// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-run %s --open --target=emulator --compile-to=tiles | FileCheck %s
// RUN: drawloom-run %s --open --target=emulator --random --shape=0:1111x8 --compare=interpreter

// A kernel is given the extent and works out from it what rows its blocks have. The host computes the grid: a block for each tile of 256
// rows, for eight rows that are left over, and for one. All are one launch, and write one result.
// CHECK: drawloom.plan
// CHECK-SAME: \22arguments\22:[{\22element\22:1,\22shape\22:[-1,8]}],\22extents\22:1
// CHECK-SAME: [{\22kernel\22:\22double_0\22,\22operands\22:{{\[\[}}\22extent\22,0],[\22argument\22,0],[\22result\22,0]]}]
// CHECK: func.func private @double_0(%[[ROWS:.*]]: index {drawloom.extent = 0 : i64}, %[[X:.*]]: memref<?x8xf32> {{.*}}, %{{.*}}: memref<?x8xf32>
// CHECK-SAME: drawloom.open_grid = "[\22min\22,[\22add\22,[\22add\22,[\22div\22,[\22extent\22,0],256],
// CHECK-SAME: ,1056]"
// CHECK: arith.remui %[[ROWS]]
// CHECK: memref.subview %[[X]][{{.*}}, 0] [256, 8]
// CHECK: memref.subview %[[X]][{{.*}}, 0] [8, 8]
// CHECK: memref.subview %[[X]][{{.*}}, 0] [1, 8]
func.func @double(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = arith.addf %x, %x : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
