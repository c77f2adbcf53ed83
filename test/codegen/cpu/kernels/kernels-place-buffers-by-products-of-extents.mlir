// RUN: drawloom-opt %s --cpu-kernels --canonicalize | FileCheck %s

// The product is rounded, not each extent; in which order a shape has them does
// not matter. Not alive at once, two of the buffers share their place.
// CHECK-LABEL: func.func @f
// CHECK-SAME: (%{{.*}}: memref<1xf32>, %[[BATCH:.*]]: index, %[[TOKENS:.*]]: index, %[[MEMORY:.*]]: memref<0xi8>)
// CHECK-SAME: workspace_bytes = 0
// CHECK-SAME: workspace_terms = [{bytes = 16 : i64, extents = array<i64: 0, 1>}, {bytes = 4 : i64, extents = array<i64: 1, 1>}]
// CHECK: %[[PRODUCT:.*]] = arith.muli %[[BATCH]], %[[TOKENS]]
// CHECK: %[[UP:.*]] = arith.addi %[[PRODUCT]], %c63
// CHECK: %[[UNITS:.*]] = arith.divui %[[UP]], %c64
// CHECK: memref.view %[[MEMORY]][%c0][%[[BATCH]], %[[TOKENS]]] : memref<0xi8> to memref<?x?x2x2xf32>
// CHECK: memref.view %[[MEMORY]][%c0][%[[TOKENS]], %[[BATCH]]] : memref<0xi8> to memref<?x4x?xf32>
// CHECK: %[[SQUARE:.*]] = arith.muli %[[UNITS]], %c1024
// CHECK: memref.view %[[MEMORY]][%[[SQUARE]]][%[[TOKENS]], %[[TOKENS]]] : memref<0xi8> to memref<?x?xf32>
func.func @f(%out: memref<1xf32>, %batch: index, %tokens: index) attributes {drawloom.signature = {
    arguments = [], results = [tensor<?x?xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64,
    extents = [array<i64: 0, 1>], open_extents = 2 : i64, workspace_terms = [], scratch_terms = []}} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %a = memref.alloc(%batch, %tokens) : memref<?x?x2x2xf32>
  memref.store %zero, %a[%c0, %c0, %c0, %c0] : memref<?x?x2x2xf32>
  %square = memref.alloc(%tokens, %tokens) : memref<?x?xf32>
  %v = memref.load %a[%c0, %c0, %c0, %c0] : memref<?x?x2x2xf32>
  memref.store %v, %square[%c0, %c0] : memref<?x?xf32>
  %b = memref.alloc(%tokens, %batch) : memref<?x4x?xf32>
  %w = memref.load %square[%c0, %c0] : memref<?x?xf32>
  memref.store %w, %b[%c0, %c0, %c0] : memref<?x4x?xf32>
  %u = memref.load %b[%c0, %c0, %c0] : memref<?x4x?xf32>
  memref.store %u, %out[%c0] : memref<1xf32>
  return
}
