// RUN: drawloom-opt %s --fuse-rows --canonicalize --verify-semantics | FileCheck %s

// Two layers become one block program; the hidden activations exist only as tiles.
// CHECK-LABEL: func.func @two_layers
// CHECK: scf.forall (%[[BLOCK:.*]]) in (4) shared_outs
// CHECK:   tensor.extract_slice {{.*}} [64, 32]
// CHECK:   linalg.matmul {{.*}} -> tensor<64x48xf32>
// CHECK:   math.exp
// CHECK:   linalg.matmul {{.*}} -> tensor<64x16xf32>
// CHECK:   tensor.parallel_insert_slice {{.*}} [64, 16]
// CHECK-NOT: linalg
#ij = affine_map<(i, j) -> (i, j)>
func.func @two_layers(%x: tensor<256x32xf32>, %w1: tensor<32x48xf32>, %w2: tensor<48x16xf32>) -> tensor<256x16xf32> {
  %z = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<256x48xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<256x48xf32>) -> tensor<256x48xf32>
  %m1 = linalg.matmul ins(%x, %w1 : tensor<256x32xf32>, tensor<32x48xf32>) outs(%f1 : tensor<256x48xf32>) -> tensor<256x48xf32>
  %h = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%m1 : tensor<256x48xf32>) outs(%e1 : tensor<256x48xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<256x48xf32>
  %e2 = tensor.empty() : tensor<256x16xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<256x16xf32>) -> tensor<256x16xf32>
  %y = linalg.matmul ins(%h, %w2 : tensor<256x48xf32>, tensor<48x16xf32>) outs(%f2 : tensor<256x16xf32>) -> tensor<256x16xf32>
  return %y : tensor<256x16xf32>
}
