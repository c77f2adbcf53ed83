// RUN: drawloom-opt %s --cpu-kernels --verify-semantics | FileCheck %s

// Blocks are counted along both dimensions; the steps come back as offsets.
// CHECK: func.func private @f_kernel0(%[[OUT:.*]]: memref<8x6xf32> {llvm.noalias}, %[[LO:.*]]: index, %[[HI:.*]]: index) attributes {drawloom.kernel}
// CHECK: scf.for %[[BLOCK:.*]] = %[[LO]] to %[[HI]]
// CHECK: affine.delinearize_index %[[BLOCK]] into (4, 6)
// CHECK: memref.store
// CHECK: func.func @f(%[[ARG:.*]]: memref<8x6xf32>)
// CHECK: call @f_kernel0(%[[ARG]], %c0, %c24)
func.func @f(%out: memref<8x6xf32>) attributes {drawloom.signature = {
    arguments = [], results = [tensor<8x6xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64}} {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i, %j) = (0, 0) to (8, 6) step (2, 1) {
    memref.store %zero, %out[%i, %j] : memref<8x6xf32>
  }
  return
}
