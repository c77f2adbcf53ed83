// RUN: drawloom-opt %s --cpu-kernels --canonicalize | FileCheck %s

// CHECK: func.func private @both_kernel0(%[[OUT:.*]]: memref<1xf32> {llvm.noalias}, %[[N:.*]]: index, %[[M:.*]]: index, %[[LO:.*]]: index, %[[HI:.*]]: index) attributes {drawloom.kernel}
// CHECK: scf.for %[[BLOCK:.*]] = %[[LO]] to %[[HI]]
// CHECK: affine.delinearize_index %[[BLOCK]] into (%[[N]], 4, %[[M]]) : index, index, index
// CHECK: func.func @both(%[[PLACE:.*]]: memref<1xf32>, %[[ROWS:.*]]: index, %[[COLUMNS:.*]]: index)
// CHECK: %[[SOME:.*]] = arith.maxsi %[[ROWS]], %c0
// CHECK: %[[MORE:.*]] = arith.maxsi %[[COLUMNS]], %c0
// CHECK: %[[PLANES:.*]] = arith.muli %[[SOME]], %c4
// CHECK: %[[BLOCKS:.*]] = arith.muli %[[PLANES]], %[[MORE]]
// CHECK: call @both_kernel0(%[[PLACE]], %[[ROWS]], %[[COLUMNS]], %c0, %[[BLOCKS]])
func.func @both(%out: memref<1xf32>, %n: index, %m: index) attributes {drawloom.signature = {
    arguments = [], results = [tensor<?x?xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64,
    extents = [array<i64: 0, 1>], open_extents = 2 : i64, workspace_terms = [], scratch_terms = []}} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %place = memref.reinterpret_cast %out to offset: [0], sizes: [%n, 8, %m], strides: [%m, %m, 1] : memref<1xf32> to memref<?x8x?xf32, strided<[?, ?, 1]>>
  scf.forall (%i, %j, %k) = (0, 0, 0) to (%n, 8, %m) step (1, 2, 1) {
    memref.store %zero, %place[%i, %j, %k] : memref<?x8x?xf32, strided<[?, ?, 1]>>
  }
  return
}
