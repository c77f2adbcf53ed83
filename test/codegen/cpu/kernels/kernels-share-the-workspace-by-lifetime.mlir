// RUN: drawloom-opt %s --cpu-kernels --canonicalize --verify-semantics | FileCheck %s

// The first buffer is dead before the third is written: 2 x 4 KB serve three.
// CHECK-LABEL: func.func @f
// CHECK-SAME: memref<8192xi8>
// CHECK-SAME: workspace_bytes = 8192
func.func @f(%out: memref<1024xf32>) attributes {drawloom.signature = {
    arguments = [], results = [tensor<1024xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64}} {
  %a = memref.alloc() : memref<1024xf32>
  %b = memref.alloc() : memref<1024xf32>
  %c = memref.alloc() : memref<1024xf32>
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  memref.store %zero, %a[%c0] : memref<1024xf32>
  memref.copy %a, %b : memref<1024xf32> to memref<1024xf32>
  memref.copy %b, %c : memref<1024xf32> to memref<1024xf32>
  memref.copy %c, %out : memref<1024xf32> to memref<1024xf32>
  return
}
