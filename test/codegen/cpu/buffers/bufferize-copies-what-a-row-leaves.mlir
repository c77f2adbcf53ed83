// RUN: drawloom-opt %s --cpu-bufferize --verify-semantics | FileCheck %s

// The tensor is read again after a row of it was written: the write gets a copy,
// and in the copy the other row must be what it was.

// CHECK-LABEL: func.func @row
// CHECK-SAME: %[[X:.*]]: memref<2x4xf32>, %[[Y:.*]]: memref<2x4xf32>, %[[Z:.*]]: memref<2x4xf32>
// CHECK: %[[ALL:.*]] = memref.alloc() {{.*}} : memref<2x4xf32>
// CHECK: memref.copy %[[X]], %[[ALL]]
// CHECK: %[[ROW:.*]] = memref.subview %[[ALL]][0, 0] [1, 4] [1, 1]
// CHECK: memref.copy %{{.*}}, %[[ROW]]
// CHECK: memref.copy %[[ALL]], %[[Y]]
// CHECK: memref.copy %[[X]], %[[Z]]
func.func @row(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %c0 = arith.constant 0 : index
  %v = arith.constant dense<0.0> : vector<4xf32>
  %y = vector.transfer_write %v, %x[%c0, %c0] {in_bounds = [true]} : vector<4xf32>, tensor<2x4xf32>
  return %y, %x : tensor<2x4xf32>, tensor<2x4xf32>
}
