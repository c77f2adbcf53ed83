// RUN: drawloom-opt %s --cpu-tile-and-vectorize=isa=avx2 --cpu-verify-vectors --verify-semantics | FileCheck %s

// CHECK-LABEL: func.func @column_sums
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<32xf32>)
// CHECK: arith.addf {{.*}} : vector<32xf32>
// CHECK-NEXT: scf.yield
func.func @column_sums(%x: tensor<64x32xf32>) -> tensor<32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32xf32>) -> tensor<32xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<64x32xf32>) outs(%f : tensor<32xf32>) dimensions = [0]
  return %s : tensor<32xf32>
}
