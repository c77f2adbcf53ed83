// RUN: drawloom-opt %s --cpu-share-repeats="min-operations=10 min-repeats=3 min-shared=4" | FileCheck %s
// RUN: drawloom-opt %s --cpu-share-repeats="min-operations=10 min-repeats=4 min-shared=4" | FileCheck %s --check-prefix=FEW
// RUN: drawloom-opt %s --cpu-share-repeats="min-operations=1000 min-repeats=3 min-shared=4" | FileCheck %s --check-prefix=FEW

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Three loops differ in their buffers and in where a view begins. The last one
// multiplies.
// CHECK: func.func private @kernel_shared0(%[[A:.*]]: memref<8x4xf32> {llvm.noalias}, %[[AT:.*]]: index, %[[B:.*]]: memref<4xf32> {llvm.noalias})
// CHECK-SAME: passthrough = ["noinline"]
// CHECK: memref.subview %[[A]][%[[AT]], 0]
// CHECK: arith.addf
// CHECK-LABEL: func.func @kernel(
// CHECK-SAME: %[[X:[^:]*]]: memref<8x4xf32> {llvm.noalias}, %[[Y:[^:]*]]: memref<4xf32> {llvm.noalias}, %[[Z:[^:]*]]: memref<8x4xf32>
// CHECK: call @kernel_shared0(%[[X]], %{{.*}}, %[[Y]])
// CHECK: call @kernel_shared0(%[[X]], %{{.*}}, %[[Y]])
// CHECK: call @kernel_shared0(%[[Z]], %{{.*}}, %[[Y]])
// CHECK-NOT: call
// CHECK: arith.mulf
// FEW-NOT: call
func.func @kernel(%x: memref<8x4xf32> {llvm.noalias}, %y: memref<4xf32> {llvm.noalias}, %z: memref<8x4xf32> {llvm.noalias}, %lo: index, %hi: index) attributes {drawloom.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %row0 = memref.subview %x[%lo, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<4xf32, strided<[1], offset: ?>>
  scf.for %i = %c0 to %c4 step %c1 {
    %a = memref.load %row0[%i] : memref<4xf32, strided<[1], offset: ?>>
    %b = memref.load %y[%i] : memref<4xf32>
    %c = arith.addf %a, %b : f32
    memref.store %c, %y[%i] : memref<4xf32>
  }
  %row1 = memref.subview %x[%c3, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<4xf32, strided<[1], offset: ?>>
  scf.for %i = %c0 to %c4 step %c1 {
    %a = memref.load %row1[%i] : memref<4xf32, strided<[1], offset: ?>>
    %b = memref.load %y[%i] : memref<4xf32>
    %c = arith.addf %a, %b : f32
    memref.store %c, %y[%i] : memref<4xf32>
  }
  %row2 = memref.subview %z[%lo, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<4xf32, strided<[1], offset: ?>>
  scf.for %i = %c0 to %c4 step %c1 {
    %a = memref.load %row2[%i] : memref<4xf32, strided<[1], offset: ?>>
    %b = memref.load %y[%i] : memref<4xf32>
    %c = arith.addf %a, %b : f32
    memref.store %c, %y[%i] : memref<4xf32>
  }
  scf.for %i = %c0 to %c4 step %c1 {
    %a = memref.load %row2[%i] : memref<4xf32, strided<[1], offset: ?>>
    %b = memref.load %y[%i] : memref<4xf32>
    %c = arith.mulf %a, %b : f32
    memref.store %c, %y[%i] : memref<4xf32>
  }
  return
}
