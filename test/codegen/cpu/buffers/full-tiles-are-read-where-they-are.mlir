// RUN: drawloom-opt %s --cpu-tiles-in-place | FileCheck %s

// CHECK-LABEL: func.func @elementwise(
// CHECK: %[[TILE:.+]] = memref.alloc() : memref<4x16xf32>
// CHECK: vector.transfer_write %{{.+}}, %[[TILE]]
// CHECK: %[[PLACE:.+]] = scf.if
// CHECK: memref.subview %arg0[%arg1, 0] [4, 16] [1, 1]
// CHECK: } else {
// CHECK: memref.cast %[[TILE]]
// CHECK: scf.if
// CHECK-NEXT: memref.copy
// CHECK: vector.transfer_read %[[PLACE]]
func.func @elementwise(%x: memref<?x16xf32>, %at: index, %rows: index, %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %none = arith.constant dense<0.0> : vector<4x16xf32>
  %tile = memref.alloc() : memref<4x16xf32>
  vector.transfer_write %none, %tile[%c0, %c0] : vector<4x16xf32>, memref<4x16xf32>
  %from = memref.subview %x[%at, 0] [%rows, 16] [1, 1]
    : memref<?x16xf32> to memref<?x16xf32, strided<[16, 1], offset: ?>>
  %to = memref.subview %tile[0, 0] [%rows, 16] [1, 1]
    : memref<4x16xf32> to memref<?x16xf32, strided<[16, 1]>>
  memref.copy %from, %to
    : memref<?x16xf32, strided<[16, 1], offset: ?>> to memref<?x16xf32, strided<[16, 1]>>
  %row = vector.transfer_read %tile[%c0, %c0], %zero : memref<4x16xf32>, vector<16xf32>
  vector.transfer_write %row, %y[%c0] : vector<16xf32>, memref<16xf32>
  return
}

// Rows that products read are read many times: they lie together.
// CHECK-LABEL: func.func @product(
// CHECK-NOT: scf.if
// CHECK: return
func.func @product(%x: memref<?x16xf32>, %at: index, %rows: index, %y: memref<4x16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %tile = memref.alloc() : memref<4x16xf32>
  %from = memref.subview %x[%at, 0] [%rows, 16] [1, 1]
    : memref<?x16xf32> to memref<?x16xf32, strided<[16, 1], offset: ?>>
  %to = memref.subview %tile[0, 0] [%rows, 16] [1, 1]
    : memref<4x16xf32> to memref<?x16xf32, strided<[16, 1]>>
  memref.copy %from, %to
    : memref<?x16xf32, strided<[16, 1], offset: ?>> to memref<?x16xf32, strided<[16, 1]>>
  %row = vector.transfer_read %tile[%c0, %c0], %zero : memref<4x16xf32>, vector<4x16xf32>
  vector.transfer_write %row, %y[%c0, %c0] : vector<4x16xf32>, memref<4x16xf32>
  return
}

// Memory changes before the tile is read.
// CHECK-LABEL: func.func @changed(
// CHECK-NOT: scf.if
// CHECK: return
func.func @changed(%x: memref<?x16xf32>, %at: index, %rows: index, %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %none = arith.constant dense<0.0> : vector<16xf32>
  %tile = memref.alloc() : memref<4x16xf32>
  %from = memref.subview %x[%at, 0] [%rows, 16] [1, 1]
    : memref<?x16xf32> to memref<?x16xf32, strided<[16, 1], offset: ?>>
  %to = memref.subview %tile[0, 0] [%rows, 16] [1, 1]
    : memref<4x16xf32> to memref<?x16xf32, strided<[16, 1]>>
  memref.copy %from, %to
    : memref<?x16xf32, strided<[16, 1], offset: ?>> to memref<?x16xf32, strided<[16, 1]>>
  vector.transfer_write %none, %x[%at, %c0] : vector<16xf32>, memref<?x16xf32>
  %row = vector.transfer_read %tile[%c0, %c0], %zero : memref<4x16xf32>, vector<16xf32>
  vector.transfer_write %row, %y[%c0] : vector<16xf32>, memref<16xf32>
  return
}

// Some of the tile is changed, which must not change memory.
// CHECK-LABEL: func.func @own(
// CHECK-NOT: scf.if
// CHECK: return
func.func @own(%x: memref<?x16xf32>, %at: index, %rows: index, %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %none = arith.constant dense<0.0> : vector<16xf32>
  %tile = memref.alloc() : memref<4x16xf32>
  %from = memref.subview %x[%at, 0] [%rows, 16] [1, 1]
    : memref<?x16xf32> to memref<?x16xf32, strided<[16, 1], offset: ?>>
  %to = memref.subview %tile[0, 0] [%rows, 16] [1, 1]
    : memref<4x16xf32> to memref<?x16xf32, strided<[16, 1]>>
  memref.copy %from, %to
    : memref<?x16xf32, strided<[16, 1], offset: ?>> to memref<?x16xf32, strided<[16, 1]>>
  vector.transfer_write %none, %tile[%c0, %c0] : vector<16xf32>, memref<4x16xf32>
  %row = vector.transfer_read %tile[%c0, %c0], %zero : memref<4x16xf32>, vector<16xf32>
  vector.transfer_write %row, %y[%c0] : vector<16xf32>, memref<16xf32>
  return
}

// A view that is made in front of the copy and read behind it is one of memory.
// CHECK-LABEL: func.func @view_in_front(
// CHECK: %[[PLACE:.+]] = scf.if
// CHECK: %[[ROW:.+]] = memref.subview %[[PLACE]][1, 0] [1, 16]
// CHECK: memref.copy
// CHECK: vector.transfer_read %[[ROW]]
func.func @view_in_front(%x: memref<?x16xf32>, %at: index, %rows: index, %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %tile = memref.alloc() : memref<4x16xf32>
  %row = memref.subview %tile[1, 0] [1, 16] [1, 1] : memref<4x16xf32> to memref<16xf32, strided<[1], offset: 16>>
  %from = memref.subview %x[%at, 0] [%rows, 16] [1, 1]
    : memref<?x16xf32> to memref<?x16xf32, strided<[16, 1], offset: ?>>
  %to = memref.subview %tile[0, 0] [%rows, 16] [1, 1]
    : memref<4x16xf32> to memref<?x16xf32, strided<[16, 1]>>
  memref.copy %from, %to
    : memref<?x16xf32, strided<[16, 1], offset: ?>> to memref<?x16xf32, strided<[16, 1]>>
  %found = vector.transfer_read %row[%c0], %zero : memref<16xf32, strided<[1], offset: 16>>, vector<16xf32>
  vector.transfer_write %found, %y[%c0] : vector<16xf32>, memref<16xf32>
  return
}
