// RUN: drawloom-opt %s --decompose-graph | FileCheck %s

// With no rows at run time the loss is 0 * 1, not 0 / 0.
// CHECK-LABEL: func.func @rows
// CHECK: %[[COUNT:.*]] = arith.muli
// CHECK: arith.maxsi %[[COUNT]], %{{.*}} : index
func.func @rows(%y: tensor<?x3xf32>, %t: tensor<?x3xf32>) -> tensor<f32> {
  %0 = loss.mse %y, %t : tensor<?x3xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
