// RUN: drawloom-opt %s --pass-pipeline='builtin.module(func.func(cpu-tile-and-vectorize{isa=avx2}),cpu-bufferize,func.func(cpu-verify-buffers{strict}))' --verify-semantics | FileCheck %s

// A block's result is stored in another shape than it is computed in: it needs
// neither memory of its own nor a copy.
// CHECK-LABEL: func.func @reshaped
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: vector.transfer_write
func.func @reshaped(%x: tensor<64x4x32xf32>) -> tensor<64x128xf32> {
  %result = tensor.empty() : tensor<64x128xf32>
  %y = scf.forall (%i) in (8) shared_outs(%out = %result) -> tensor<64x128xf32> {
    %at = affine.apply affine_map<(d0) -> (d0 * 8)>(%i)
    %rows = tensor.extract_slice %x[%at, 0, 0] [8, 4, 32] [1, 1, 1] : tensor<64x4x32xf32> to tensor<8x4x32xf32>
    %twice = arith.addf %rows, %rows : tensor<8x4x32xf32>
    %flat = tensor.collapse_shape %twice [[0], [1, 2]] : tensor<8x4x32xf32> into tensor<8x128xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %flat into %out[%at, 0] [8, 128] [1, 1] : tensor<8x128xf32> into tensor<64x128xf32>
    }
  }
  return %y : tensor<64x128xf32>
}
