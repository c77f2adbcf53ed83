// RUN: drawloom-opt %s --cpu-tiles-in-place | FileCheck %s

// A tile of 4 rows of which memory takes %rows: if these are all, it is there.
// CHECK-LABEL: func.func @written(
// CHECK: %[[TILE:.+]] = memref.alloc() : memref<4x16xf32>
// CHECK: %[[ALL:.+]] = arith.constant 4 : index
// CHECK: %[[WHOLE:.+]] = arith.cmpi eq, %arg2, %[[ALL]]
// CHECK: %[[PLACE:.+]] = scf.if %[[WHOLE]] -> (memref<4x16xf32, strided<[?, 1], offset: ?>>)
// CHECK: memref.subview %arg0[%arg1, 0] [4, 16] [1, 1]
// CHECK: } else {
// CHECK: memref.cast %[[TILE]]
// CHECK: vector.transfer_write %{{.+}}, %[[PLACE]]
// CHECK: %[[ROW:.+]] = memref.subview %[[PLACE]][1, 0] [1, 16] [1, 1]
// CHECK: vector.transfer_read %[[ROW]]
// CHECK: %[[PART:.+]] = arith.cmpi ne, %arg2, %[[ALL]]
// CHECK-NEXT: scf.if %[[PART]] {
// CHECK-NEXT: memref.copy
func.func @written(%y: memref<?x16xf32>, %at: index, %rows: index, %sum: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant dense<1.0> : vector<4x16xf32>
  %tile = memref.alloc() : memref<4x16xf32>
  vector.transfer_write %one, %tile[%c0, %c0] : vector<4x16xf32>, memref<4x16xf32>
  %row = memref.subview %tile[1, 0] [1, 16] [1, 1]
    : memref<4x16xf32> to memref<16xf32, strided<[1], offset: 16>>
  %x = vector.transfer_read %row[%c0], %zero : memref<16xf32, strided<[1], offset: 16>>, vector<16xf32>
  vector.transfer_write %x, %sum[%c0] : vector<16xf32>, memref<16xf32>
  %from = memref.subview %tile[0, 0] [%rows, 16] [1, 1]
    : memref<4x16xf32> to memref<?x16xf32, strided<[16, 1]>>
  %to = memref.subview %y[%at, 0] [%rows, 16] [1, 1]
    : memref<?x16xf32> to memref<?x16xf32, strided<[16, 1], offset: ?>>
  memref.copy %from, %to
    : memref<?x16xf32, strided<[16, 1]>> to memref<?x16xf32, strided<[16, 1], offset: ?>>
  return
}

// What was in memory is read after the tile was begun.
// CHECK-LABEL: func.func @read_meanwhile(
// CHECK-NOT: scf.if
// CHECK: return
func.func @read_meanwhile(%y: memref<?x16xf32>, %at: index, %rows: index, %sum: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant dense<1.0> : vector<4x16xf32>
  %tile = memref.alloc() : memref<4x16xf32>
  vector.transfer_write %one, %tile[%c0, %c0] : vector<4x16xf32>, memref<4x16xf32>
  %x = vector.transfer_read %y[%at, %c0], %zero : memref<?x16xf32>, vector<16xf32>
  vector.transfer_write %x, %sum[%c0] : vector<16xf32>, memref<16xf32>
  %from = memref.subview %tile[0, 0] [%rows, 16] [1, 1]
    : memref<4x16xf32> to memref<?x16xf32, strided<[16, 1]>>
  %to = memref.subview %y[%at, 0] [%rows, 16] [1, 1]
    : memref<?x16xf32> to memref<?x16xf32, strided<[16, 1], offset: ?>>
  memref.copy %from, %to
    : memref<?x16xf32, strided<[16, 1]>> to memref<?x16xf32, strided<[16, 1], offset: ?>>
  return
}

// The tile is read once more behind its copy: memory may be another's by then.
// CHECK-LABEL: func.func @read_behind(
// CHECK-NOT: scf.if
// CHECK: return
func.func @read_behind(%y: memref<?x16xf32>, %at: index, %rows: index, %sum: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant dense<1.0> : vector<4x16xf32>
  %tile = memref.alloc() : memref<4x16xf32>
  vector.transfer_write %one, %tile[%c0, %c0] : vector<4x16xf32>, memref<4x16xf32>
  %from = memref.subview %tile[0, 0] [%rows, 16] [1, 1]
    : memref<4x16xf32> to memref<?x16xf32, strided<[16, 1]>>
  %to = memref.subview %y[%at, 0] [%rows, 16] [1, 1]
    : memref<?x16xf32> to memref<?x16xf32, strided<[16, 1], offset: ?>>
  memref.copy %from, %to
    : memref<?x16xf32, strided<[16, 1]>> to memref<?x16xf32, strided<[16, 1], offset: ?>>
  %x = vector.transfer_read %tile[%c0, %c0], %zero : memref<4x16xf32>, vector<16xf32>
  vector.transfer_write %x, %sum[%c0] : vector<16xf32>, memref<16xf32>
  return
}

// Copies to two places share a view: one of them has no tile to be.
// CHECK-LABEL: func.func @written_twice(
// CHECK-NOT: scf.if
// CHECK: return
func.func @written_twice(%y: memref<?x16xf32>, %z: memref<?x16xf32>, %at: index, %rows: index) {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : vector<4x16xf32>
  %tile = memref.alloc() : memref<4x16xf32>
  vector.transfer_write %one, %tile[%c0, %c0] : vector<4x16xf32>, memref<4x16xf32>
  %from = memref.subview %tile[0, 0] [%rows, 16] [1, 1]
    : memref<4x16xf32> to memref<?x16xf32, strided<[16, 1]>>
  %to = memref.subview %y[%at, 0] [%rows, 16] [1, 1]
    : memref<?x16xf32> to memref<?x16xf32, strided<[16, 1], offset: ?>>
  memref.copy %from, %to
    : memref<?x16xf32, strided<[16, 1]>> to memref<?x16xf32, strided<[16, 1], offset: ?>>
  %also = memref.subview %z[%at, 0] [%rows, 16] [1, 1]
    : memref<?x16xf32> to memref<?x16xf32, strided<[16, 1], offset: ?>>
  memref.copy %from, %also
    : memref<?x16xf32, strided<[16, 1]>> to memref<?x16xf32, strided<[16, 1], offset: ?>>
  return
}

// The row is read behind the copy, where memory has another by then, though its
// view is made in front of it.
// CHECK-LABEL: func.func @view_in_front(
// CHECK-NOT: scf.if
// CHECK: return
func.func @view_in_front(%y: memref<?x16xf32>, %at: index, %rows: index, %sum: memref<16xf32>, %v: vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant dense<1.0> : vector<4x16xf32>
  %tile = memref.alloc() : memref<4x16xf32>
  %row = memref.subview %tile[0, 0] [1, 16] [1, 1] : memref<4x16xf32> to memref<16xf32, strided<[1]>>
  vector.transfer_write %one, %tile[%c0, %c0] : vector<4x16xf32>, memref<4x16xf32>
  %from = memref.subview %tile[0, 0] [%rows, 16] [1, 1]
    : memref<4x16xf32> to memref<?x16xf32, strided<[16, 1]>>
  %to = memref.subview %y[%at, 0] [%rows, 16] [1, 1]
    : memref<?x16xf32> to memref<?x16xf32, strided<[16, 1], offset: ?>>
  memref.copy %from, %to
    : memref<?x16xf32, strided<[16, 1]>> to memref<?x16xf32, strided<[16, 1], offset: ?>>
  vector.transfer_write %v, %y[%at, %c0] : vector<16xf32>, memref<?x16xf32>
  %x = vector.transfer_read %row[%c0], %zero : memref<16xf32, strided<[1]>>, vector<16xf32>
  vector.transfer_write %x, %sum[%c0] : vector<16xf32>, memref<16xf32>
  return
}

// Two copies of other numbers of rows: the second one's place is where the first
// reads.
// CHECK-LABEL: func.func @two_copies(
// CHECK: %[[PLACE:.+]] = scf.if
// CHECK: %[[FIRST:.+]] = memref.subview %[[PLACE]][0, 0] [%arg3, 16]
// CHECK: memref.copy %[[FIRST]]
// CHECK: scf.if
// CHECK-NEXT: memref.copy
func.func @two_copies(%y: memref<?x16xf32>, %z: memref<?x16xf32>, %at: index, %some: index, %rows: index) {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : vector<4x16xf32>
  %tile = memref.alloc() : memref<4x16xf32>
  vector.transfer_write %one, %tile[%c0, %c0] : vector<4x16xf32>, memref<4x16xf32>
  %first = memref.subview %tile[0, 0] [%some, 16] [1, 1] : memref<4x16xf32> to memref<?x16xf32, strided<[16, 1]>>
  %from = memref.subview %tile[0, 0] [%rows, 16] [1, 1] : memref<4x16xf32> to memref<?x16xf32, strided<[16, 1]>>
  %also = memref.subview %y[%at, 0] [%some, 16] [1, 1] : memref<?x16xf32> to memref<?x16xf32, strided<[16, 1], offset: ?>>
  %to = memref.subview %z[%at, 0] [%rows, 16] [1, 1] : memref<?x16xf32> to memref<?x16xf32, strided<[16, 1], offset: ?>>
  memref.copy %first, %also : memref<?x16xf32, strided<[16, 1]>> to memref<?x16xf32, strided<[16, 1], offset: ?>>
  memref.copy %from, %to : memref<?x16xf32, strided<[16, 1]>> to memref<?x16xf32, strided<[16, 1], offset: ?>>
  return
}

// Memory that has fewer rows than the tile, and single numbers.
// CHECK-LABEL: func.func @never_full(
// CHECK-NOT: scf.if
// CHECK: return
func.func @never_full(%y: memref<2x16xf32>, %z: memref<8xf32>, %rows: index) {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : vector<4x16xf32>
  %ones = arith.constant dense<1.0> : vector<4xf32>
  %tile = memref.alloc() : memref<4x16xf32>
  vector.transfer_write %one, %tile[%c0, %c0] : vector<4x16xf32>, memref<4x16xf32>
  %from = memref.subview %tile[0, 0] [%rows, 16] [1, 1] : memref<4x16xf32> to memref<?x16xf32, strided<[16, 1]>>
  %to = memref.subview %y[0, 0] [%rows, 16] [1, 1] : memref<2x16xf32> to memref<?x16xf32, strided<[16, 1]>>
  memref.copy %from, %to : memref<?x16xf32, strided<[16, 1]>> to memref<?x16xf32, strided<[16, 1]>>
  %numbers = memref.alloc() : memref<4xf32>
  vector.transfer_write %ones, %numbers[%c0] : vector<4xf32>, memref<4xf32>
  %some = memref.subview %numbers[0] [%rows] [1] : memref<4xf32> to memref<?xf32, strided<[1]>>
  %place = memref.subview %z[0] [%rows] [1] : memref<8xf32> to memref<?xf32, strided<[1]>>
  memref.copy %some, %place : memref<?xf32, strided<[1]>> to memref<?xf32, strided<[1]>>
  return
}
