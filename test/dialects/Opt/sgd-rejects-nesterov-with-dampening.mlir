// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%w: tensor<4xf32>, %h: tensor<4xf16>, %d: tensor<4xf64>, %lr: f32, %t: i64) {
  // expected-error @below {{nesterov needs momentum and no dampening}}
  %0:2 = opt.sgd params(%w) grads(%w) buffers(%w) lr(%lr : f32) step(%t : i64) {momentum = 0.9, dampening = 0.1, nesterov} : tensor<4xf32>
  return
}
