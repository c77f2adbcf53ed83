// RUN: drawloom-opt %s --fuse-rows --verify-semantics | FileCheck %s

// dx = dy W^T: the tiles read W^T along its rows; the copy is made ahead of the blocks.
// CHECK: linalg.transpose ins(%{{.*}} : tensor<32x16xf32>) outs(%{{.*}} : tensor<16x32xf32>)
// CHECK: scf.forall
// CHECK: linalg.contract {{.*}} ins(%{{.*}}, %transposed : tensor<64x16xf32>, tensor<16x32xf32>)
func.func @input_gradient(%g: tensor<256x16xf32>, %w: tensor<32x16xf32>) -> tensor<256x32xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x32xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<256x32xf32>) -> tensor<256x32xf32>
  %dx = linalg.contract
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%g, %w : tensor<256x16xf32>, tensor<32x16xf32>) outs(%f : tensor<256x32xf32>) -> tensor<256x32xf32>
  return %dx : tensor<256x32xf32>
}
