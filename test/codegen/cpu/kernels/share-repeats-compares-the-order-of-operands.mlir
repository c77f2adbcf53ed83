// RUN: drawloom-opt %s --cpu-share-repeats="min-operations=1 min-repeats=2 min-shared=1" --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Three loops do the same operations on the same two buffers: x - y is computed
// twice and becomes a function, y - x is something else.
// CHECK: func.func private @differences_shared0
// CHECK-LABEL: func.func @differences(
// CHECK-SAME: %[[X:[^:]*]]: memref<4xf32> {llvm.noalias}, %[[Y:[^:]*]]: memref<4xf32> {llvm.noalias}
// CHECK: call @differences_shared0(%[[X]], %[[Y]], %{{.*}})
// CHECK: scf.for
// CHECK: %[[A:.*]] = memref.load %[[X]]
// CHECK: %[[B:.*]] = memref.load %[[Y]]
// CHECK: arith.subf %[[B]], %[[A]]
// CHECK: call @differences_shared0(%[[X]], %[[Y]], %{{.*}})
func.func @differences(%x: memref<4xf32> {llvm.noalias}, %y: memref<4xf32> {llvm.noalias}, %first: memref<4xf32> {llvm.noalias}, %second: memref<4xf32> {llvm.noalias}, %third: memref<4xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %a = memref.load %x[%i] : memref<4xf32>
    %b = memref.load %y[%i] : memref<4xf32>
    %d = arith.subf %a, %b : f32
    memref.store %d, %first[%i] : memref<4xf32>
  }
  scf.for %i = %c0 to %c4 step %c1 {
    %a = memref.load %x[%i] : memref<4xf32>
    %b = memref.load %y[%i] : memref<4xf32>
    %d = arith.subf %b, %a : f32
    memref.store %d, %second[%i] : memref<4xf32>
  }
  scf.for %i = %c0 to %c4 step %c1 {
    %a = memref.load %x[%i] : memref<4xf32>
    %b = memref.load %y[%i] : memref<4xf32>
    %d = arith.subf %a, %b : f32
    memref.store %d, %third[%i] : memref<4xf32>
  }
  return
}
