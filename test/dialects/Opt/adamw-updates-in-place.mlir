// RUN: drawloom-opt %s --decompose-graph | FileCheck %s

// The generic reads its outputs: parameter and moments keep their buffers.
// CHECK-LABEL: func.func @one
// CHECK-SAME: (%[[P:[a-z0-9]*]]: tensor<4xf32>, %[[G:[a-z0-9]*]]: tensor<4xf32>, %[[M:[a-z0-9]*]]: tensor<4xf32>, %[[V:[a-z0-9]*]]: tensor<4xf32>
// CHECK-NOT: tensor.empty
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[G]], %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xf32>, f32, f32, f32)
// CHECK-SAME: outs(%[[P]], %[[M]], %[[V]] : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
func.func @one(%p: tensor<4xf32>, %g: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>, %lr: f32, %t: i64)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0:3 = opt.adamw params(%p) grads(%g) first(%m) second(%v) lr(%lr : f32) step(%t : i64) : tensor<4xf32>
  return %0#0, %0#1, %0#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
