// RUN: drawloom-opt %s --decompose-graph | FileCheck %s

// CHECK-LABEL: func.func @one
// CHECK-COUNT-2: math.exp %{{.*}} : f64
// CHECK: math.sqrt %{{.*}} : f64
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK: linalg.generic
func.func @one(%p: tensor<4xf32>, %lr: f32, %t: i64) -> tensor<4xf32> {
  %0:3 = opt.adamw params(%p) grads(%p) first(%p) second(%p) lr(%lr : f32) step(%t : i64) : tensor<4xf32>
  return %0#0 : tensor<4xf32>
}
