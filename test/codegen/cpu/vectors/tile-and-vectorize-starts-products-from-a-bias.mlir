// RUN: drawloom-opt %s --pass-pipeline='builtin.module(func.func(cpu-tile-and-vectorize{isa=avx2}))' --verify-semantics | FileCheck %s

// The bias is repeated in registers, not in memory.
// CHECK-LABEL: func.func @layer
// CHECK: scf.for
// CHECK: %[[BIAS:.*]] = vector.transfer_read %arg2[{{.*}} : tensor<64xf32>, vector<6x16xf32>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[BIAS]]) -> (vector<6x16xf32>)
// CHECK: vector.contract
func.func @layer(%x: tensor<64x32xf32>, %w: tensor<32x64xf32>, %b: tensor<64xf32>, %out: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %empty = tensor.empty() : tensor<64x64xf32>
  %start = linalg.broadcast ins(%b : tensor<64xf32>) outs(%empty : tensor<64x64xf32>) dimensions = [0]
  %y = linalg.matmul ins(%x, %w : tensor<64x32xf32>, tensor<32x64xf32>) outs(%start : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
