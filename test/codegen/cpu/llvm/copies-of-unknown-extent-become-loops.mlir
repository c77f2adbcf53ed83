// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --cpu-lower-copies --verify-semantics | FileCheck %s

// CHECK-LABEL: @rows
// CHECK-SAME: (%[[A:[a-z0-9]+]]: memref<?x64xf32
// CHECK: %[[ROWS:.*]] = memref.dim %[[A]], %
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[ROWS]] step
// CHECK: vector.load %[[A]][%[[I]], %{{.*}}] : {{.*}}, vector<32xf32>
// CHECK-NOT: memref.copy
func.func @rows(%a: memref<?x64xf32, strided<[64, 1], offset: ?>>, %b: memref<?x64xf32>) {
  memref.copy %a, %b : memref<?x64xf32, strided<[64, 1], offset: ?>> to memref<?x64xf32>
  return
}

// CHECK-LABEL: @elements
// CHECK: scf.for
// CHECK: scf.for
// CHECK: memref.load
// CHECK: memref.store
// CHECK-NOT: memref.copy
func.func @elements(%a: memref<3x?xf32>, %b: memref<3x?xf32>) {
  memref.copy %a, %b : memref<3x?xf32> to memref<3x?xf32>
  return
}
