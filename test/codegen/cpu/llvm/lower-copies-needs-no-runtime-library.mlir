// RUN: drawloom-opt %s --cpu-lower-copies --verify-semantics | FileCheck %s

// CHECK-LABEL: func.func @strided
// CHECK-NOT: memref.copy
// CHECK: scf.for
// CHECK: vector.load {{.*}} vector<32xf32>
// CHECK: vector.store
// CHECK: vector.load {{.*}} vector<8xf32>
func.func @strided(%a: memref<4x40xf32, strided<[100, 1]>>, %b: memref<4x40xf32>) {
  memref.copy %a, %b : memref<4x40xf32, strided<[100, 1]>> to memref<4x40xf32>
  return
}

// Vectors are written to dense rows only, however dense those they come from.
// CHECK-LABEL: func.func @gaps
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[X:.*]] = memref.load
// CHECK-NEXT: memref.store %[[X]]
// CHECK-NOT: vector.store
// CHECK: return
func.func @gaps(%a: memref<4x32xf32>, %b: memref<4x32xf32, strided<[64, 2]>>) {
  memref.copy %a, %b : memref<4x32xf32> to memref<4x32xf32, strided<[64, 2]>>
  return
}
