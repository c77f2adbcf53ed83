// RUN: drawloom-opt %s --cpu-kernels='streamed-bytes=1000' | FileCheck %s
// RUN: drawloom-opt %s --cpu-kernels | FileCheck %s --check-prefix=SMALL

// @written is marked; @read reads what it writes, @shared hands it on to
// another kernel.
// CHECK-LABEL: func.func private @written_kernel0
// CHECK-SAME: memref<64x16xf32> {drawloom.streamed, llvm.noalias}
// CHECK-LABEL: func.func private @read_kernel0
// CHECK-NOT: drawloom.streamed
// CHECK-LABEL: func.func private @shared_kernel0
// CHECK-NOT: drawloom.streamed
// SMALL-NOT: drawloom.streamed

func.func @written(%out: memref<64x16xf32>) attributes {drawloom.signature = {
    arguments = [], results = [tensor<64x16xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64}} {
  %v = arith.constant dense<1.0> : vector<16xf32>
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (64) {
    %row = memref.subview %out[%i, 0] [1, 16] [1, 1] : memref<64x16xf32> to memref<1x16xf32, strided<[16, 1], offset: ?>>
    vector.transfer_write %v, %row[%c0, %c0] {in_bounds = [true]} : vector<16xf32>, memref<1x16xf32, strided<[16, 1], offset: ?>>
  }
  return
}

func.func @read(%out: memref<64x16xf32>) attributes {drawloom.signature = {
    arguments = [], results = [tensor<64x16xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64}} {
  %c0 = arith.constant 0 : index
  %p = arith.constant 0.0 : f32
  scf.forall (%i) in (64) {
    %v = vector.transfer_read %out[%i, %c0], %p {in_bounds = [true]} : memref<64x16xf32>, vector<16xf32>
    vector.transfer_write %v, %out[%i, %c0] {in_bounds = [true]} : vector<16xf32>, memref<64x16xf32>
  }
  return
}

func.func @shared(%out: memref<64x16xf32>) attributes {drawloom.signature = {
    arguments = [], results = [tensor<64x16xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64}} {
  %v = arith.constant dense<1.0> : vector<16xf32>
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (64) {
    vector.transfer_write %v, %out[%i, %c0] {in_bounds = [true]} : vector<16xf32>, memref<64x16xf32>
  }
  scf.forall (%i) in (64) {
    vector.transfer_write %v, %out[%i, %c0] {in_bounds = [true]} : vector<16xf32>, memref<64x16xf32>
  }
  return
}
