// RUN: drawloom-opt %s --cpu-prefetch-tiles --verify-semantics | FileCheck %s

// A head's row of the next token, with its row of this one; in the last
// iteration that is this one's again. 16 floats are one line of cache.
// CHECK-LABEL: func.func @gaps
// CHECK: scf.for %[[TOKEN:.+]] = %c0 to %c64 step %c1
// CHECK: %[[NEXT:.+]] = arith.addi %[[TOKEN]], %c1
// CHECK: %[[INSIDE:.+]] = arith.cmpi slt, %[[NEXT]], %c64
// CHECK: %[[AHEAD:.+]] = arith.select %[[INSIDE]], %[[NEXT]], %[[TOKEN]]
// CHECK-COUNT-1: memref.prefetch %arg0[%[[AHEAD]], %{{.+}}, %{{.+}}], read
// CHECK-NOT: memref.prefetch
// CHECK: vector.transfer_read
func.func @gaps(%x: memref<64x4x16xf32>, %y: memref<4x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%head) in (4) {
    scf.for %token = %c0 to %c64 step %c1 {
      %row = vector.transfer_read %x[%token, %head, %c0], %zero {in_bounds = [true]}
        : memref<64x4x16xf32>, vector<16xf32>
      vector.transfer_write %row, %y[%head, %c0] {in_bounds = [true]}
        : vector<16xf32>, memref<4x16xf32>
    }
  }
  return
}

// The same through a copy, in tiles of 8 tokens: row by row.
// CHECK-LABEL: func.func @tiles
// CHECK: scf.for %[[AT:.+]] = %c0 to %c64 step %c8
// CHECK: scf.for %[[ROW:.+]] = %c0 to %c8 step %c1
// CHECK: %[[MOVED:.+]] = arith.addi %{{.+}}, %[[ROW]]
// CHECK: memref.subview %arg0[%[[MOVED]], %{{.+}}, 0]
// CHECK-COUNT-2: memref.prefetch %{{.+}}[%{{.+}}], read
// CHECK-NOT: memref.prefetch
// CHECK: memref.copy
func.func @tiles(%x: memref<64x4x32xf32>, %y: memref<8x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  scf.forall (%head) in (4) {
    scf.for %at = %c0 to %c64 step %c8 {
      scf.for %row = %c0 to %c8 step %c1 {
        %token = arith.addi %at, %row : index
        %from = memref.subview %x[%token, %head, 0] [1, 1, 32] [1, 1, 1]
          : memref<64x4x32xf32> to memref<32xf32, strided<[1], offset: ?>>
        %to = memref.subview %y[%row, 0] [1, 32] [1, 1]
          : memref<8x32xf32> to memref<32xf32, strided<[1], offset: ?>>
        memref.copy %from, %to
          : memref<32xf32, strided<[1], offset: ?>> to memref<32xf32, strided<[1], offset: ?>>
      }
    }
  }
  return
}

// Whole rows follow each other; hardware sees that.
// CHECK-LABEL: func.func @no_gaps
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @no_gaps(%x: memref<4x64x16xf32>, %y: memref<4x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%head) in (4) {
    scf.for %token = %c0 to %c64 step %c1 {
      %row = vector.transfer_read %x[%head, %token, %c0], %zero {in_bounds = [true]}
        : memref<4x64x16xf32>, vector<16xf32>
      vector.transfer_write %row, %y[%head, %c0] {in_bounds = [true]}
        : vector<16xf32>, memref<4x16xf32>
    }
  }
  return
}

// A row that is written is read before, too: in tiles of two rows, all lines.
// CHECK-LABEL: func.func @written
// CHECK: scf.for %[[TOKEN:.+]] = %c0 to %c64 step %c2
// CHECK: %[[AHEAD:.+]] = arith.select
// CHECK: memref.prefetch %{{.+}}[%c0, %[[AHEAD]], %{{.+}}], read
// CHECK: %[[SECOND:.+]] = arith.addi %[[AHEAD]], %c1
// CHECK: memref.prefetch %{{.+}}[%c0, %[[SECOND]], %{{.+}}], read
// CHECK-NOT: memref.prefetch
// CHECK: vector.transfer_write
func.func @written(%x: memref<4x64x4x16xf32>, %row: vector<2x16xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  scf.forall (%head) in (4) {
    %own = memref.subview %x[0, 0, %head, 0] [4, 64, 1, 16] [1, 1, 1, 1]
      : memref<4x64x4x16xf32> to memref<4x64x16xf32, strided<[4096, 64, 1], offset: ?>>
    scf.for %token = %c0 to %c64 step %c2 {
      vector.transfer_write %row, %own[%c0, %token, %c0] {in_bounds = [true, true]}
        : vector<2x16xf32>, memref<4x64x16xf32, strided<[4096, 64, 1], offset: ?>>
    }
  }
  return
}

// So many rows as a call has, from rows with gaps to rows with gaps: one by one,
// and with each that of the next tile on both sides.
// CHECK-LABEL: func.func @some_rows
// CHECK: scf.for %[[AT:.+]] = %c0 to %c64 step %c8
// CHECK: scf.for %[[ROW:.+]] = %{{.+}} to %arg2 step
// CHECK: memref.prefetch %{{.+}}, read
// CHECK: memref.prefetch %{{.+}}, read
// CHECK-NOT: memref.prefetch
// CHECK: memref.copy {{.*}} memref<16xf32, {{.*}} to memref<16xf32
func.func @some_rows(%x: memref<64x4x16xf32>, %y: memref<64x4x16xf32>, %rows: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  scf.forall (%head) in (4) {
    scf.for %at = %c0 to %c64 step %c8 {
      %from = memref.subview %x[%at, %head, 0] [%rows, 1, 16] [1, 1, 1]
        : memref<64x4x16xf32> to memref<?x16xf32, strided<[64, 1], offset: ?>>
      %to = memref.subview %y[%at, %head, 0] [%rows, 1, 16] [1, 1, 1]
        : memref<64x4x16xf32> to memref<?x16xf32, strided<[64, 1], offset: ?>>
      memref.copy %from, %to
        : memref<?x16xf32, strided<[64, 1], offset: ?>> to memref<?x16xf32, strided<[64, 1], offset: ?>>
    }
  }
  return
}

// A tile that is memory where it is whole.
// CHECK-LABEL: func.func @tile_in_place
// CHECK: scf.for %[[AT:.+]] = %c0 to %c64 step %c4
// CHECK: %[[AHEAD:.+]] = arith.select
// CHECK: %[[NEXT:.+]] = memref.subview %{{.+}}[%[[AHEAD]], 0] [4, 16]
// CHECK: memref.prefetch %{{.+}}[%{{.+}}, %{{.+}}], read
// CHECK: vector.transfer_write
func.func @tile_in_place(%x: memref<64x4x16xf32>, %row: vector<16xf32>, %isWhole: i1) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  scf.forall (%head) in (4) {
    %own = memref.subview %x[0, %head, 0] [64, 1, 16] [1, 1, 1]
      : memref<64x4x16xf32> to memref<64x16xf32, strided<[64, 1], offset: ?>>
    %tile = memref.alloc() : memref<4x16xf32>
    scf.for %at = %c0 to %c64 step %c4 {
      %place = scf.if %isWhole -> (memref<4x16xf32, strided<[?, 1], offset: ?>>) {
        %rows = memref.subview %own[%at, 0] [4, 16] [1, 1]
          : memref<64x16xf32, strided<[64, 1], offset: ?>> to memref<4x16xf32, strided<[64, 1], offset: ?>>
        %there = memref.cast %rows : memref<4x16xf32, strided<[64, 1], offset: ?>> to memref<4x16xf32, strided<[?, 1], offset: ?>>
        scf.yield %there : memref<4x16xf32, strided<[?, 1], offset: ?>>
      } else {
        %here = memref.cast %tile : memref<4x16xf32> to memref<4x16xf32, strided<[?, 1], offset: ?>>
        scf.yield %here : memref<4x16xf32, strided<[?, 1], offset: ?>>
      }
      vector.transfer_write %row, %place[%c0, %c0] {in_bounds = [true]}
        : vector<16xf32>, memref<4x16xf32, strided<[?, 1], offset: ?>>
    }
  }
  return
}

// Dimensions between that are taken as a whole leave no gap; nor does a single
// number.
// CHECK-LABEL: func.func @whole_between
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @whole_between(%x: memref<64x4x16xf32>, %row: vector<4x16xf32>, %one: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%block) in (1) {
    scf.for %token = %c0 to %c64 step %c1 {
      %number = vector.transfer_read %one[], %zero : memref<f32>, vector<f32>
      vector.transfer_write %number, %one[] : vector<f32>, memref<f32>
      %all = memref.subview %x[%token, 0, 0] [1, 4, 16] [1, 1, 1]
        : memref<64x4x16xf32> to memref<1x4x16xf32, strided<[64, 16, 1], offset: ?>>
      vector.transfer_write %row, %all[%c0, %c0, %c0] {in_bounds = [true, true]}
        : vector<4x16xf32>, memref<1x4x16xf32, strided<[64, 16, 1], offset: ?>>
    }
  }
  return
}
