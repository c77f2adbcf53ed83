// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// CHECK-LABEL: func.func @adamw
func.func @adamw(%w: tensor<4x4xf32>, %b: tensor<?xbf16>, %mw: tensor<4x4xf32>, %mb: tensor<?xf32>, %lr: f32, %t: i64) {
  // CHECK: opt.adamw params(%{{.*}}) grads(%{{.*}}) first(%{{.*}}) second(%{{.*}}) lr(%{{.*}} : f32) step(%{{.*}} : i64) {beta1 = 8.000000e-01 : f64} : tensor<4x4xf32>
  %0:3 = opt.adamw params(%w) grads(%w) first(%mw) second(%mw) lr(%lr : f32) step(%t : i64) {beta1 = 0.8} : tensor<4x4xf32>
  // CHECK: weight_decay [1.000000e-02, 0.000000e+00] lr_scale [2.000000e+00] : tensor<4x4xf32>, tensor<?xbf16> moments tensor<4x4xf32>, tensor<?xf32>
  %p:2, %m:2, %v:2 = opt.adamw params(%w, %b) grads(%w, %b) first(%mw, %mb) second(%mw, %mb) lr(%lr : f32) step(%t : i64)
      weight_decay [0.01, 0.0] lr_scale [2.0] : tensor<4x4xf32>, tensor<?xbf16> moments tensor<4x4xf32>, tensor<?xf32>
  return
}

// CHECK-LABEL: func.func @sgd
func.func @sgd(%w: tensor<4x4xf32>, %h: tensor<8xf16>, %m: tensor<8xf32>, %lr: tensor<f64>, %t: tensor<i32>) {
  // CHECK: opt.sgd params(%{{.*}}) grads(%{{.*}}) lr(%{{.*}} : tensor<f64>) weight_decay [1.000000e-02] : tensor<4x4xf32>
  %0 = opt.sgd params(%w) grads(%w) lr(%lr : tensor<f64>) weight_decay [0.01] : tensor<4x4xf32>
  // CHECK: opt.sgd params(%{{.*}}) grads(%{{.*}}) buffers(%{{.*}}) lr(%{{.*}}) {momentum = 9.000000e-01 : f64, nesterov} : tensor<4x4xf32>
  %1:2 = opt.sgd params(%w) grads(%w) buffers(%w) lr(%lr : tensor<f64>) {momentum = 0.9, nesterov} : tensor<4x4xf32>
  // CHECK: step(%{{.*}} : tensor<i32>) {dampening = 5.000000e-01 : f64, momentum = 9.000000e-01 : f64} : tensor<8xf16> buffers tensor<8xf32>
  %2:2 = opt.sgd params(%h) grads(%h) buffers(%m) lr(%lr : tensor<f64>) step(%t : tensor<i32>)
      {momentum = 0.9, dampening = 0.5} : tensor<8xf16> buffers tensor<8xf32>
  return
}
