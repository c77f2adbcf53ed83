// RUN: drawloom-opt %s --cpu-tile-and-vectorize=isa=avx2 --verify-semantics | FileCheck %s

// 4096 rows of 64 columns do not stay in the cache: rows outside, although the
// sums could stay in registers the other way round.
// CHECK-LABEL: func.func @column_sums
// CHECK: scf.for {{.*}} = %c0 to %c4096 step %c1
// CHECK: vector.transfer_read {{.*}} : tensor<4096x64xf32>, vector<32xf32>
func.func @column_sums(%x: tensor<4096x64xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<4096x64xf32>) outs(%f : tensor<64xf32>) dimensions = [0]
  return %s : tensor<64xf32>
}
