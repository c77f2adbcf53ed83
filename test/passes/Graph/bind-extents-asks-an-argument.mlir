// RUN: drawloom-opt %s --bind-extents --canonicalize --verify-semantics | FileCheck %s

// The two arguments have one number of rows, since they are added; the width is
// known, and the second extent is another.
// CHECK-LABEL: func.func @two_extents
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x4xf32> {check.shape = array<i64: 3, 4>, drawloom.extents = array<i64: 0, -1>}
// CHECK-SAME: tensor<?x4xf32> {check.shape = array<i64: 3, 4>, drawloom.extents = array<i64: 0, -1>}
// CHECK-SAME: tensor<?xf32> {check.shape = array<i64: 5>, drawloom.extents = array<i64: 1>}
// CHECK-SAME: -> (tensor<?x4xf32> {drawloom.extents = array<i64: 0, -1>}, index)
// CHECK: %[[ROWS:.*]] = tensor.dim %[[X]]
// CHECK: tensor.empty(%[[ROWS]])
// CHECK: return %{{.*}}, %[[ROWS]]
func.func @two_extents(%x: tensor<?x4xf32> {check.shape = array<i64: 3, 4>}, %y: tensor<?x4xf32> {check.shape = array<i64: 3, 4>},
                       %z: tensor<?xf32> {check.shape = array<i64: 5>}) -> (tensor<?x4xf32>, index) {
  %first = arith.constant 0 : index
  %sum = linalg.add ins(%x, %y : tensor<?x4xf32>, tensor<?x4xf32>) outs(%y : tensor<?x4xf32>) -> tensor<?x4xf32>
  %rows = tensor.dim %sum, %first : tensor<?x4xf32>
  return %sum, %rows : tensor<?x4xf32>, index
}
