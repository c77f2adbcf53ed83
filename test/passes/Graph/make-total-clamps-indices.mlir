// RUN: drawloom-opt %s --make-total --verify-semantics | FileCheck %s

// CHECK-LABEL: func.func @rows
// CHECK: linalg.generic
// CHECK: ^bb0(%[[ROW:.+]]: index,
// CHECK: %[[COLUMN:.+]] = linalg.index 1
// CHECK: %[[LOW:.+]] = arith.minsi %[[ROW]], %{{.+}} : index
// CHECK: %[[HERE:.+]] = arith.maxsi %[[LOW]], %{{.+}} : index
// The column is a loop's.
// CHECK-NEXT: tensor.extract %{{.+}}[%[[HERE]], %[[COLUMN]]]
#rows = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
func.func @rows(%t: tensor<8x4xf32>) -> tensor<3x4xf32> {
  %i = arith.constant dense<[9, -9, 3]> : tensor<3xindex>
  %e = tensor.empty() : tensor<3x4xf32>
  %r = linalg.generic {indexing_maps = [#rows, #all], iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<3xindex>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%row: index, %out: f32):
    %column = linalg.index 1 : index
    %x = tensor.extract %t[%row, %column] : tensor<8x4xf32>
    linalg.yield %x : f32
  } -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}
