// RUN: drawloom-opt %s --cpu-kernels --canonicalize | FileCheck %s

// 256 bytes of known size, and behind them 16 bytes a row for what is alive at
// once, at multiples of 64 rows.
// CHECK-LABEL: func.func @f
// CHECK-SAME: (%{{.*}}: memref<1xf32>, %[[ROWS:.*]]: index, %[[MEMORY:.*]]: memref<256xi8>)
// CHECK-SAME: workspace_bytes = 256
// CHECK-SAME: workspace_terms = [{bytes = 16 : i64, extents = array<i64: 0>}]
// CHECK: memref.view %[[MEMORY]][%c0][] : memref<256xi8> to memref<64xf32>
// CHECK: %[[UP:.*]] = arith.addi %[[ROWS]], %c63
// CHECK: %[[UNITS:.*]] = arith.divui %[[UP]], %c64
// CHECK: memref.view %[[MEMORY]][%c256][%[[ROWS]]] : memref<256xi8> to memref<?x2xf32>
// CHECK: %[[BYTES:.*]] = arith.muli %[[UNITS]], %c512
// CHECK: %[[SECOND:.*]] = arith.addi %[[BYTES]], %c256
// CHECK: memref.view %[[MEMORY]][%[[SECOND]]][%[[ROWS]]] : memref<256xi8> to memref<?x2xf32>
func.func @f(%out: memref<1xf32>, %rows: index) attributes {drawloom.signature = {
    arguments = [], results = [tensor<?x2xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64,
    extents = [array<i64: 0, -1>], open_extents = 1 : i64, workspace_terms = [], scratch_terms = []}} {
  %fixed = memref.alloc() : memref<64xf32>
  %a = memref.alloc(%rows) : memref<?x2xf32>
  %b = memref.alloc(%rows) : memref<?x2xf32>
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  memref.store %zero, %fixed[%c0] : memref<64xf32>
  memref.store %zero, %a[%c0, %c0] : memref<?x2xf32>
  memref.copy %a, %b : memref<?x2xf32> to memref<?x2xf32>
  %v = memref.load %b[%c0, %c0] : memref<?x2xf32>
  memref.store %v, %out[%c0] : memref<1xf32>
  return
}
