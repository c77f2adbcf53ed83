// RUN: drawloom-opt %s --cpu-kernels=stack-bytes=1024 --verify-semantics | FileCheck %s

// 256 bytes fit the stack, 4096 do not. Neither is allocated per block.
// CHECK: func.func private @f_kernel0({{.*}}, %[[SCRATCH:.*]]: memref<4096xi8> {llvm.noalias}) attributes {drawloom.kernel = "scratch"}
// CHECK-DAG: memref.alloca() {{.*}} : memref<64xf32>
// CHECK-DAG: memref.view %[[SCRATCH]]{{.*}} to memref<1024xf32>
// CHECK: scf.for
// CHECK-NOT: memref.alloc
// CHECK: func.func @f(%{{.*}}: memref<8xf32>, %{{.*}}: memref<4096xi8>) attributes {{.*}}scratch_bytes = 4096
func.func @f(%out: memref<8xf32>) attributes {drawloom.signature = {
    arguments = [], results = [tensor<8xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64}} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (8) {
    %small = memref.alloc() : memref<64xf32>
    %large = memref.alloc() : memref<1024xf32>
    memref.store %zero, %small[%c0] : memref<64xf32>
    memref.store %zero, %large[%c0] : memref<1024xf32>
    %v = memref.load %large[%c0] : memref<1024xf32>
    memref.store %v, %out[%i] : memref<8xf32>
  }
  return
}
