// RUN: drawloom-opt %s --cpu-bufferize | FileCheck %s

// Of memory whose extents a call says only the place is an argument; the
// extents come behind the results.
// CHECK-LABEL: func.func @scale
// CHECK-SAME: (%[[X:.*]]: memref<1xf32>, %[[Y:.*]]: memref<1xf32>, %[[ROWS:.*]]: index)
// CHECK-SAME: extents = [array<i64: 0, -1>, array<i64: 0, -1>]
// CHECK-SAME: open_extents = 1 : i64
// CHECK-DAG: memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%[[ROWS]], 4], strides: [4, 1]
// CHECK-DAG: memref.reinterpret_cast %[[Y]] to offset: [0], sizes: [%[[ROWS]], 4], strides: [4, 1]
// CHECK: scf.for {{.*}} to %[[ROWS]]
func.func @scale(%x: tensor<?x4xf32> {drawloom.extents = array<i64: 0, -1>}) -> (tensor<?x4xf32> {drawloom.extents = array<i64: 0, -1>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4xf32>
  %empty = tensor.empty(%rows) : tensor<?x4xf32>
  %y = scf.for %i = %c0 to %rows step %c1 iter_args(%to = %empty) -> (tensor<?x4xf32>) {
    %a = tensor.extract %x[%i, %c1] : tensor<?x4xf32>
    %b = tensor.insert %a into %to[%i, %c0] : tensor<?x4xf32>
    scf.yield %b : tensor<?x4xf32>
  }
  return %y : tensor<?x4xf32>
}
