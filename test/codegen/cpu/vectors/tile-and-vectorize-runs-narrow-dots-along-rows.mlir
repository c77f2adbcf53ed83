// RUN: drawloom-opt %s --cpu-tile-and-vectorize=isa=avx2 --cpu-verify-vectors --verify-semantics | FileCheck %s

// Three columns fill no vector; 32 rows of the transposed operand do.
// CHECK-LABEL: func.func @weights
// CHECK-NOT: vector.contract
// CHECK: scf.for {{.*}} -> (vector<32xf32>)
// CHECK: arith.mulf {{.*}} : vector<32xf32>
#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @weights(%x: tensor<64x64xf32>, %dy: tensor<64x3xf32>) -> tensor<64x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x3xf32>) -> tensor<64x3xf32>
  %y = linalg.matmul indexing_maps = [#a, #b, #c] ins(%x, %dy : tensor<64x64xf32>, tensor<64x3xf32>) outs(%f : tensor<64x3xf32>) -> tensor<64x3xf32>
  return %y : tensor<64x3xf32>
}
