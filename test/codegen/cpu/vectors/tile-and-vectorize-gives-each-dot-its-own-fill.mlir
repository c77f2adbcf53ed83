// RUN: drawloom-opt %s --pass-pipeline='builtin.module(func.func(cse,cpu-tile-and-vectorize{isa=avx2}),cpu-bufferize,cpu-verify-buffers{strict=true})' --verify-semantics | FileCheck %s

// CSE has made one of the two fills; neither dot may copy a zeroed buffer.
// CHECK-LABEL: func.func @two
// CHECK-NOT: memref.copy
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @two(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %v: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = linalg.matmul ins(%x, %v : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %a, %b : tensor<64x64xf32>, tensor<64x64xf32>
}
