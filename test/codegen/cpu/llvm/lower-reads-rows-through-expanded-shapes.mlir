// RUN: drawloom-opt %s --cpu-lower-to-llvm | FileCheck %s

// Upstream's fold-memref-alias-ops makes 12 rows of 8 out of one row of 96 here
// (rows 384 bytes apart instead of 32). Row 1 begins 8 elements after row 0.
// CHECK-LABEL: llvm.func @f
// CHECK: llvm.mlir.constant(8 : index)
// CHECK-NOT: llvm.mlir.constant(192 : index)
// CHECK-COUNT-12: llvm.load {{.*}} vector<8xf32>
func.func @f(%m: memref<4x96xf32>, %o: memref<4x12x8xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %p = arith.constant 0.0 : f32
  %e = memref.expand_shape %m [[0], [1, 2]] output_shape [4, 12, 8] : memref<4x96xf32> into memref<4x12x8xf32>
  %v = vector.transfer_read %e[%i, %c0, %c0], %p {in_bounds = [true, true]} : memref<4x12x8xf32>, vector<12x8xf32>
  vector.transfer_write %v, %o[%i, %c0, %c0] {in_bounds = [true, true]} : vector<12x8xf32>, memref<4x12x8xf32>
  return
}
