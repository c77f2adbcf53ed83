// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%w: tensor<4xf32>, %h: tensor<4xf16>, %d: tensor<4xf64>, %lr: f32, %t: i64) {
  // expected-error @below {{beta2 must lie in [0, 1)}}
  %0:3 = opt.adamw params(%w) grads(%w) first(%w) second(%w) lr(%lr : f32) step(%t : i64) {beta2 = 1.0} : tensor<4xf32>
  return
}
