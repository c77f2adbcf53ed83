// RUN: drawloom-opt %s --cpu-kernels --verify-semantics | FileCheck %s

// The buffer is handed over whole and once: its views would overlap it.
// CHECK: func.func private @f_kernel0(%[[OUT:.*]]: memref<8x4xf32> {llvm.noalias}, %{{.*}}: index, %{{.*}}: index)
// CHECK: memref.subview %[[OUT]]
// CHECK: scf.for
func.func @f(%out: memref<8x4xf32>) attributes {drawloom.signature = {
    arguments = [], results = [tensor<8x4xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64}} {
  %c0 = arith.constant 0 : index
  %row = memref.subview %out[2, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<4xf32, strided<[1], offset: 8>>
  scf.forall (%i) in (4) {
    %v = memref.load %out[%c0, %i] : memref<8x4xf32>
    memref.store %v, %row[%i] : memref<4xf32, strided<[1], offset: 8>>
  }
  return
}
