// RUN: drawloom-opt %s --fuse-rows --verify-semantics | FileCheck %s

// Rows that need the column sums of all rows come in a second block program.
// CHECK-LABEL: func.func @normalise
// CHECK: scf.forall
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]
// CHECK: scf.forall
// CHECK: arith.subf
#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>
func.func @normalise(%x: tensor<256x32xf32>) -> tensor<256x32xf32> {
  %z = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<32xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<32xf32>) -> tensor<32xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<256x32xf32>) outs(%f1 : tensor<32xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<32xf32>
  %e = tensor.empty() : tensor<256x32xf32>
  %y = linalg.generic {indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<256x32xf32>, tensor<32xf32>) outs(%e : tensor<256x32xf32>) {
  ^bb0(%a: f32, %s: f32, %b: f32):
    %0 = arith.subf %a, %s : f32
    linalg.yield %0 : f32
  } -> tensor<256x32xf32>
  return %y : tensor<256x32xf32>
}
