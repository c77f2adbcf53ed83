// RUN: drawloom-opt %s --pass-pipeline='builtin.module(func.func(fuse-rows))' --verify-semantics | FileCheck %s

// The rows are the 64 columns of %t: the inserted row is as long as a tile, and
// the dimension that it lacks stays what it is.

// CHECK-LABEL: func.func @f
// CHECK: scf.forall
// CHECK: %[[ZERO:.*]] = linalg.fill {{.*}} -> tensor<[[N:[0-9]+]]xf32>
// CHECK: tensor.insert_slice %[[ZERO]] into %{{.*}}[0, 0] [1, [[N]]] [1, 1] : tensor<[[N]]xf32> into tensor<2x[[N]]xf32>
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
func.func @f(%t: tensor<2x640xf32>) -> tensor<640xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<640xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<640xf32>) -> tensor<640xf32>
  %e2 = tensor.empty() : tensor<2x640xf32>
  %s = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<2x640xf32>) outs(%e2 : tensor<2x640xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.mulf %a, %a : f32
    linalg.yield %b : f32
  } -> tensor<2x640xf32>
  %i = tensor.insert_slice %z into %s[0, 0] [1, 640] [1, 1] : tensor<640xf32> into tensor<2x640xf32>
  %y = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["reduction", "parallel"]}
      ins(%i : tensor<2x640xf32>) outs(%z : tensor<640xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<640xf32>
  return %y : tensor<640xf32>
}
