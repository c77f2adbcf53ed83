// RUN: drawloom-opt %s --fuse-rows --verify-semantics | FileCheck %s

// The rows are fewer than the columns, but the program leaves them open, and
// its machine code for any number of them is cut along them.
// CHECK-LABEL: func.func @few
// CHECK: scf.forall
// CHECK: tensor.extract_slice %{{.*}} [2, 48]
// CHECK: linalg.matmul {{.*}} -> tensor<2x48xf32>
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<2x48xf32>)
// CHECK: tensor.parallel_insert_slice {{.*}} [2, 48]
#ij = affine_map<(i, j) -> (i, j)>
func.func @few(%x: tensor<2x48xf32> {drawloom.given_dims = array<i64: 0>}, %w: tensor<48x48xf32>) -> tensor<2x48xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x48xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x48xf32>) -> tensor<2x48xf32>
  %z = linalg.matmul ins(%x, %w : tensor<2x48xf32>, tensor<48x48xf32>) outs(%start : tensor<2x48xf32>) -> tensor<2x48xf32>
  %y = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%z : tensor<2x48xf32>) outs(%empty : tensor<2x48xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<2x48xf32>
  return %y : tensor<2x48xf32>
}
