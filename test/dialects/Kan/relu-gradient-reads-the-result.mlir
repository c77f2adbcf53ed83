// RUN: drawloom-opt %s --differentiate --merge-elementwise --decompose-graph | FileCheck %s

// The backward pass compares the result again, which the next layer's gradient needs anyway, instead of keeping x or the
// comparison.
func.func private @relu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kan.relu %x : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @gradient
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[G:.*]]: tensor<4x8xf32>
// CHECK-NOT: tensor<4x8xi1>
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[X]] :
// CHECK: arith.cmpf ugt
// CHECK: %[[DX:.*]] = linalg.generic {{.*}} ins(%[[Y]], %[[G]] :
// CHECK: arith.cmpf ugt
// CHECK-NOT: tensor<4x8xi1>
// CHECK: return %[[Y]], %[[DX]]
func.func @gradient(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %y, %dx = ad.vjp @relu(%x) cotangents(%g) wrt [0] : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  return %y, %dx : tensor<4x8xf32>, tensor<4x8xf32>
}
