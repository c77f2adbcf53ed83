// RUN: drawloom-opt %s --cpu-kernels=stack-bytes=1024 --canonicalize --cse | FileCheck %s

// Of a size that the host computed, and of one that the block does: each begins
// at a multiple of 64 bytes. All kernels of a function use the same memory.
// CHECK: func.func private @f_kernel0(%[[PARTS:.*]]: index, %[[TOKENS:.*]]: index, %{{.*}}: index, %{{.*}}: index, %[[SCRATCH:.*]]: memref<4224xi8> {llvm.noalias}) attributes {drawloom.kernel = "scratch"}
// CHECK: %[[BYTES:.*]] = arith.muli %[[PARTS]], %c12
// CHECK: %[[UP:.*]] = arith.addi %[[BYTES]], %c63
// CHECK: %[[UNITS:.*]] = arith.divui %[[UP]], %c64
// CHECK: %[[ALIGNED:.*]] = arith.muli %[[UNITS]], %c64
// CHECK: %[[SECOND:.*]] = arith.addi %[[ALIGNED]], %c4096
// CHECK: memref.view %[[SCRATCH]][%c4096][%[[PARTS]]] : memref<4224xi8> to memref<?x3xf32>
// CHECK: %[[MORE:.*]] = arith.addi %[[TOKENS]], %c3
// CHECK: memref.view %[[SCRATCH]][%[[SECOND]]][%[[MORE]]] : memref<4224xi8> to memref<?xf32>
// CHECK: memref.view %[[SCRATCH]][%c0][] : memref<4224xi8> to memref<1024xf32>
// CHECK: scf.for
// CHECK-NOT: memref.alloc
// CHECK: func.func private @f_kernel1({{.*}}, %{{.*}}: memref<64xi8> {llvm.noalias})
// CHECK: func.func @f(%{{.*}}: memref<1xf32>, %{{.*}}: index, %{{.*}}: index, %[[ALL:.*]]: memref<4224xi8>)
// CHECK-SAME: scratch_bytes = 4224 : i64, scratch_terms = [{bytes = 5 : i64, extents = array<i64: 1>}, {bytes = 8 : i64, extents = array<i64: 0>}]
// CHECK: call @f_kernel0({{.*}}, %[[ALL]])
// CHECK: %[[FIRST:.*]] = memref.view %[[ALL]][%c0][] : memref<4224xi8> to memref<64xi8>
// CHECK: call @f_kernel1({{.*}}, %[[FIRST]])
func.func @f(%out: memref<1xf32>, %rows: index, %tokens: index) attributes {drawloom.signature = {
    arguments = [], results = [tensor<?x?xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64,
    extents = [array<i64: 0, 1>], open_extents = 2 : i64, workspace_terms = [], scratch_terms = []}} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %parts = arith.ceildivui %tokens, %c32 : index
  scf.forall (%i) in (%rows) {
    %known = memref.alloc() : memref<1024xf32>
    %first = memref.alloc(%parts) : memref<?x3xf32>
    %more = arith.addi %tokens, %c3 : index
    %second = memref.alloc(%more) : memref<?xf32>
    memref.store %zero, %known[%i] : memref<1024xf32>
    memref.store %zero, %first[%c0, %i] : memref<?x3xf32>
    memref.store %zero, %second[%i] : memref<?xf32>
  }
  scf.forall (%i) in (%rows) {
    %own = memref.alloc(%rows) : memref<?xf64>
    %wide = arith.constant 0.0 : f64
    memref.store %wide, %own[%i] : memref<?xf64>
  }
  return
}
