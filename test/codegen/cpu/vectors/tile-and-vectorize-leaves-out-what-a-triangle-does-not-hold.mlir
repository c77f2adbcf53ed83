// RUN: drawloom-opt %s --cpu-tile-and-vectorize=isa=avx2 --cpu-verify-vectors --verify-semantics | FileCheck %s

#ik = affine_map<(i, j, k) -> (i, k)>
#jk = affine_map<(i, j, k) -> (j, k)>
#kj = affine_map<(i, j, k) -> (k, j)>
#ki = affine_map<(i, j, k) -> (k, i)>
#ij = affine_map<(i, j, k) -> (i, j)>
#own = affine_map<(i, j) -> (i, j)>

// Scores are read below the diagonal only: columns behind the last row of a tile
// get no step. Sums over the scores of a row end with it, those over the scores
// of a column begin with it.
// CHECK-LABEL: func.func @triangle
// CHECK: scf.for %[[ROW:.+]] = %c0 to %c12 step %c6
// CHECK: scf.for %[[COLUMN:.+]] = %c0 to %c32 step %c16
// CHECK: %[[REACHED:.+]] = arith.cmpi slt, %[[COLUMN]]
// CHECK: %[[STEPS:.+]] = arith.select %[[REACHED]], %c64, %c0
// CHECK: scf.for %{{.+}} = %c0 to %[[STEPS]] step %c1
// CHECK: scf.for %[[ROW:.+]] = %c0 to %c12 step %c6
// CHECK: %[[END:.+]] = affine.apply #{{.+}}(%[[ROW]])
// CHECK: scf.for %{{.+}} = %c0 to %[[END]] step %c1
// CHECK: scf.for %[[ROW:.+]] = %c0 to %c12 step %c6
// CHECK: scf.for %{{.+}} = %[[ROW]] to %c32 step %c1
func.func @triangle(%q: tensor<32x64xf32>, %k: tensor<32x64xf32>, %v: tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %square = tensor.empty() : tensor<32x32xf32>
  %rows = tensor.empty() : tensor<32x64xf32>
  %none = linalg.fill ins(%zero : f32) outs(%square : tensor<32x32xf32>) -> tensor<32x32xf32>
  %noRows = linalg.fill ins(%zero : f32) outs(%rows : tensor<32x64xf32>) -> tensor<32x64xf32>
  %scores = linalg.contract indexing_maps = [#ik, #jk, #ij]
      ins(%q, %k : tensor<32x64xf32>, tensor<32x64xf32>) outs(%none : tensor<32x32xf32>) -> tensor<32x32xf32>
  %masked = linalg.generic {indexing_maps = [#own, #own], iterator_types = ["parallel", "parallel"]}
      ins(%scores : tensor<32x32xf32>) outs(%square : tensor<32x32xf32>) attrs = {block.lower_triangular} {
  ^bb0(%score: f32, %unused: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %is = arith.cmpi sge, %i, %j : index
    %kept = arith.select %is, %score, %zero : f32
    linalg.yield %kept : f32
  } -> tensor<32x32xf32>
  %forward = linalg.contract indexing_maps = [#ik, #kj, #ij]
      ins(%masked, %v : tensor<32x32xf32>, tensor<32x64xf32>) outs(%noRows : tensor<32x64xf32>) -> tensor<32x64xf32>
  %backward = linalg.contract indexing_maps = [#ki, #kj, #ij]
      ins(%masked, %v : tensor<32x32xf32>, tensor<32x64xf32>) outs(%noRows : tensor<32x64xf32>) -> tensor<32x64xf32>
  return %forward, %backward : tensor<32x64xf32>, tensor<32x64xf32>
}

// One op reads the scores below the diagonal only, the other all of them: every
// column gets its steps.
// CHECK-LABEL: func.func @whole
// CHECK-NOT: arith.select {{.*}}, %c64, %c0
// CHECK: scf.for %{{.+}} = %c0 to %c64 step %c1
// CHECK: vector.contract
// CHECK-NOT: arith.select {{.*}}, %c64, %c0
// CHECK: return
func.func @whole(%q: tensor<32x64xf32>, %k: tensor<32x64xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %square = tensor.empty() : tensor<32x32xf32>
  %none = linalg.fill ins(%zero : f32) outs(%square : tensor<32x32xf32>) -> tensor<32x32xf32>
  %scores = linalg.contract indexing_maps = [#ik, #jk, #ij]
      ins(%q, %k : tensor<32x64xf32>, tensor<32x64xf32>) outs(%none : tensor<32x32xf32>) -> tensor<32x32xf32>
  %masked = linalg.generic {indexing_maps = [#own, #own], iterator_types = ["parallel", "parallel"]}
      ins(%scores : tensor<32x32xf32>) outs(%square : tensor<32x32xf32>) attrs = {block.lower_triangular} {
  ^bb0(%score: f32, %unused: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %is = arith.cmpi sge, %i, %j : index
    %kept = arith.select %is, %score, %zero : f32
    linalg.yield %kept : f32
  } -> tensor<32x32xf32>
  %negated = linalg.generic {indexing_maps = [#own, #own], iterator_types = ["parallel", "parallel"]}
      ins(%scores : tensor<32x32xf32>) outs(%square : tensor<32x32xf32>) {
  ^bb0(%score: f32, %unused: f32):
    %n = arith.negf %score : f32
    linalg.yield %n : f32
  } -> tensor<32x32xf32>
  return %masked, %negated : tensor<32x32xf32>, tensor<32x32xf32>
}
