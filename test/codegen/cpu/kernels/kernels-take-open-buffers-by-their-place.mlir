// RUN: drawloom-opt %s --cpu-kernels --canonicalize | FileCheck %s

// A pointer tells no extents.
// CHECK: func.func private @f_kernel0(%[[PLACE:.*]]: memref<1xf32> {llvm.noalias}, %[[N:.*]]: index, %[[M:.*]]: index, %{{.*}}: index, %{{.*}}: index)
// CHECK: memref.reinterpret_cast %[[PLACE]] to offset: [0], sizes: [%[[N]], %[[M]]], strides: [%[[M]], 1] : memref<1xf32> to memref<?x?xf32>
// CHECK: func.func @f
// CHECK: %[[VIEW:.*]] = memref.view
// CHECK: %[[GIVEN:.*]] = memref.reinterpret_cast %[[VIEW]] to offset: [0], sizes: [1], strides: [1] : memref<?x?xf32> to memref<1xf32>
// CHECK: call @f_kernel0(%[[GIVEN]], 
func.func @f(%out: memref<1xf32>, %n: index, %m: index) attributes {drawloom.signature = {
    arguments = [], results = [tensor<?x?xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64,
    extents = [array<i64: 0, 1>], open_extents = 2 : i64, workspace_terms = [], scratch_terms = []}} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %a = memref.alloc(%n, %m) : memref<?x?xf32>
  scf.forall (%i, %j) in (%n, %m) {
    memref.store %zero, %a[%i, %j] : memref<?x?xf32>
  }
  return
}
