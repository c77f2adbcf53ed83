// RUN: drawloom-opt %s --cpu-kernels='streamed-bytes=1000' | FileCheck %s
// RUN: drawloom-opt %s --cpu-kernels | FileCheck %s --check-prefix=SMALL

// @written is marked, and @shared, whose two kernels only write; @read reads
// what it writes. Of @open calls say whether it exceeds the limit.
// CHECK-LABEL: func.func private @written_kernel0
// CHECK-SAME: memref<64x16xf32> {drawloom.streamed, llvm.noalias}
// CHECK-LABEL: func.func private @read_kernel0
// CHECK-NOT: drawloom.streamed
// CHECK-LABEL: func.func private @shared_kernel0
// CHECK-SAME: memref<64x16xf32> {drawloom.streamed, llvm.noalias}
// CHECK-LABEL: func.func private @shared_kernel1
// CHECK-SAME: memref<64x16xf32> {drawloom.streamed, llvm.noalias}
// CHECK-LABEL: func.func private @open_kernel0
// CHECK-SAME: memref<1xf32> {drawloom.streamed = 2 : index, llvm.noalias}, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index)
// CHECK-LABEL: func.func @open
// CHECK: %[[BYTES:.*]] = arith.muli %c64{{.*}}, %arg1
// CHECK: %[[EXCEEDS:.*]] = arith.cmpi sgt, %[[BYTES]], %c1000
// CHECK: %[[PAST:.*]] = arith.index_castui %[[EXCEEDS]]
// CHECK: call @open_kernel0(%arg0, %arg1, %[[PAST]],
// SMALL-NOT: drawloom.streamed,

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

func.func @open(%place: memref<1xf32>, %rows: index) attributes {drawloom.signature = {
    arguments = [], results = [tensor<?x16xf32>], extents = [array<i64: 0, -1>], open_extents = 1 : i64,
    workspace_bytes = 0 : i64, workspace_terms = [], scratch_bytes = 0 : i64, scratch_terms = []}} {
  %v = arith.constant dense<1.0> : vector<16xf32>
  %c0 = arith.constant 0 : index
  %out = memref.reinterpret_cast %place to offset: [0], sizes: [%rows, 16], strides: [16, 1] : memref<1xf32> to memref<?x16xf32>
  scf.forall (%i) in (%rows) {
    vector.transfer_write %v, %out[%i, %c0] {in_bounds = [true]} : vector<16xf32>, memref<?x16xf32>
  }
  return
}
