// RUN: drawloom-opt %s --decompose-graph | FileCheck %s

// CHECK-LABEL: func.func @plain
// CHECK-SAME: (%[[P:[a-z0-9]*]]: tensor<4xf32>, %[[G:[a-z0-9]*]]: tensor<4xf32>, %[[LR:[a-z0-9]*]]: f32)
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[G]], %[[LR]] : tensor<4xf32>, f32) outs(%[[P]] : tensor<4xf32>)
// CHECK: %[[STEP:.*]] = arith.mulf
// CHECK-NEXT: arith.subf %{{.*}}, %[[STEP]]
// CHECK-NEXT: linalg.yield
func.func @plain(%p: tensor<4xf32>, %g: tensor<4xf32>, %lr: f32) -> tensor<4xf32> {
  %0 = opt.sgd params(%p) grads(%g) lr(%lr : f32) : tensor<4xf32>
  return %0 : tensor<4xf32>
}
