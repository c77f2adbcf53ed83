// RUN: drawloom-opt %s --fuse-rows --verify-semantics | FileCheck %s

// One row put into the rows is not a tile: it comes ahead of the blocks.
// CHECK: tensor.insert_slice {{.*}}[5, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<64x8xf32>
// CHECK: scf.forall
// CHECK: math.exp
#ij = affine_map<(i, j) -> (i, j)>
func.func @f(%x: tensor<64x8xf32>, %row: tensor<8xf32>) -> tensor<64x8xf32> {
  %0 = tensor.insert_slice %row into %x[5, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<64x8xf32>
  %e = tensor.empty() : tensor<64x8xf32>
  %y = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<64x8xf32>) outs(%e : tensor<64x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<64x8xf32>
  return %y : tensor<64x8xf32>
}
