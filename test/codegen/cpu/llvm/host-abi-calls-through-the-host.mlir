// RUN: drawloom-opt %s --cpu-lower-to-llvm | FileCheck %s

// Nothing is linked: the kernel's address goes to a function that the host gave.
// CHECK: llvm.func @f_kernel0_range(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr)
// CHECK: llvm.func internal @drawloom_f_host
// CHECK: llvm.mlir.addressof @f_kernel0_range
// CHECK: llvm.call %{{.*}}(%{{.*}}) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> ()
// CHECK: llvm.func @drawloom_f(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
func.func private @f_kernel0(%out: memref<8xf32> {llvm.noalias}, %lo: index, %hi: index) attributes {drawloom.kernel} {
  %zero = arith.constant 0.0 : f32
  memref.store %zero, %out[%lo] : memref<8xf32>
  return
}
func.func @f(%out: memref<8xf32>) attributes {drawloom.signature = {
    arguments = [], results = [tensor<8xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64}} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  func.call @f_kernel0(%out, %c0, %c8) : (memref<8xf32>, index, index) -> ()
  return
}
