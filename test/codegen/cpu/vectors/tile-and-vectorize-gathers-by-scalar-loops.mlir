// RUN: drawloom-opt %s --cpu-tile-and-vectorize=isa=avx2 --cpu-verify-vectors --verify-semantics | FileCheck %s

// Several computed indices have no vector form.
// CHECK-LABEL: func.func @gather
// CHECK-NOT: linalg
// CHECK-NOT: vector.gather
// CHECK: tensor.extract
// CHECK: tensor.insert
func.func @gather(%table: tensor<9x3xf32>, %index: tensor<40xi32>) -> tensor<40xf32> {
  %e = tensor.empty() : tensor<40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%index : tensor<40xi32>) outs(%e : tensor<40xf32>) {
  ^bb0(%i: i32, %o: f32):
    %r = arith.index_cast %i : i32 to index
    %v = tensor.extract %table[%r, %r] : tensor<9x3xf32>
    linalg.yield %v : f32
  } -> tensor<40xf32>
  return %y : tensor<40xf32>
}
