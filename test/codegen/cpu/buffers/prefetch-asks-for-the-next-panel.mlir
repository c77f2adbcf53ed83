// RUN: drawloom-opt %s --cpu-prefetch-tiles --verify-semantics | FileCheck %s

// Each of the 8 tiles of rows reads one panel of 64 x 2048 columns again. The
// next panel is asked for meanwhile: one of the 8 lines that a step reads by each
// tile. In the last iteration that is this panel again.
// CHECK-LABEL: func.func @product
// CHECK: scf.for %[[PANEL:.+]] = %c0 to %c16
// CHECK: scf.for %[[ROW:.+]] = %c0 to %c64 step %c8
// CHECK: scf.for %[[STEP:.+]] = %c0 to %c1024 step %c4
// CHECK-DAG: %[[NEXT:.+]] = arith.addi %[[PANEL]], %c1
// CHECK-DAG: %[[INSIDE:.+]] = arith.cmpi slt, %[[NEXT]], %c16
// CHECK-DAG: %[[AHEAD:.+]] = arith.select %[[INSIDE]], %[[NEXT]], %[[PANEL]]
// CHECK-DAG: %[[TILE:.+]] = arith.divui
// CHECK: memref.prefetch %arg1[%[[AHEAD]], %{{.+}}, %{{.+}}], read, locality<2>
// CHECK-NOT: memref.prefetch
// CHECK: vector.transfer_read %arg1
func.func @product(%x: memref<64x1024xf32>, %w: memref<16x1024x32xf32>, %y: memref<64x512xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %none = arith.constant dense<0.0> : vector<8x32xf32>
  scf.for %panel = %c0 to %c16 step %c1 {
    %column = arith.muli %panel, %c32 : index
    scf.for %row = %c0 to %c64 step %c8 {
      %sum = scf.for %step = %c0 to %c1024 step %c4 iter_args(%so_far = %none) -> (vector<8x32xf32>) {
        %a = vector.transfer_read %x[%row, %step], %zero {in_bounds = [true, true]} : memref<64x1024xf32>, vector<8x4xf32>
        %b = vector.transfer_read %w[%panel, %step, %c0], %zero {in_bounds = [true, true]} : memref<16x1024x32xf32>, vector<4x32xf32>
        %next = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %so_far : vector<8x4xf32>, vector<4x32xf32> into vector<8x32xf32>
        scf.yield %next : vector<8x32xf32>
      }
      vector.transfer_write %sum, %y[%row, %column] {in_bounds = [true, true]} : vector<8x32xf32>, memref<64x512xf32>
    }
  }
  return
}

// Panels that all stay in the second-level cache are not far away.
// CHECK-LABEL: func.func @small
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @small(%x: memref<64x256xf32>, %w: memref<16x256x32xf32>, %y: memref<64x512xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %none = arith.constant dense<0.0> : vector<8x32xf32>
  scf.for %panel = %c0 to %c16 step %c1 {
    %column = arith.muli %panel, %c32 : index
    scf.for %row = %c0 to %c64 step %c8 {
      %sum = scf.for %step = %c0 to %c256 step %c4 iter_args(%so_far = %none) -> (vector<8x32xf32>) {
        %a = vector.transfer_read %x[%row, %step], %zero {in_bounds = [true, true]} : memref<64x256xf32>, vector<8x4xf32>
        %b = vector.transfer_read %w[%panel, %step, %c0], %zero {in_bounds = [true, true]} : memref<16x256x32xf32>, vector<4x32xf32>
        %next = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %so_far : vector<8x4xf32>, vector<4x32xf32> into vector<8x32xf32>
        scf.yield %next : vector<8x32xf32>
      }
      vector.transfer_write %sum, %y[%row, %column] {in_bounds = [true, true]} : vector<8x32xf32>, memref<64x512xf32>
    }
  }
  return
}
