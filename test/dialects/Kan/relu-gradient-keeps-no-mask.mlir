// RUN: drawloom-opt %s --differentiate --merge-elementwise --decompose-graph | FileCheck %s

// The backward pass compares x again instead of storing the comparison.
func.func private @relu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kan.relu %x : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @gradient
// CHECK-NOT: tensor<4x8xi1>
// CHECK-COUNT-2: arith.cmpf ugt
// CHECK-NOT: tensor<4x8xi1>
// CHECK: return
func.func @gradient(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %y, %dx = ad.vjp @relu(%x) cotangents(%g) wrt [0] : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  return %y, %dx : tensor<4x8xf32>, tensor<4x8xf32>
}
