// RUN: drawloom-opt %s --decompose-graph | FileCheck %s

// CHECK-LABEL: func.func @mixed
// CHECK: ^bb0(%{{.*}}: bf16, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: bf16, %{{.*}}: f32, %{{.*}}: f32):
// CHECK: math.sqrt %{{.*}} : f32
// CHECK: %[[P:.*]] = arith.truncf %{{.*}} : f32 to bf16
// CHECK: linalg.yield %[[P]], %{{.*}}, %{{.*}} : bf16, f32, f32
func.func @mixed(%p: tensor<4xbf16>, %m: tensor<4xf32>, %lr: f32, %t: i64) -> tensor<4xbf16> {
  %0:3 = opt.adamw params(%p) grads(%p) first(%m) second(%m) lr(%lr : f32) step(%t : i64) : tensor<4xbf16> moments tensor<4xf32>
  return %0#0 : tensor<4xbf16>
}
