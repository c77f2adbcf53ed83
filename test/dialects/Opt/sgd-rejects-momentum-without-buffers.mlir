// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%w: tensor<4xf32>, %h: tensor<4xf16>, %d: tensor<4xf64>, %lr: f32, %t: i64) {
  // expected-error @below {{has 1 parameters but 0 buffers tensors}}
  %0:1 = opt.sgd params(%w) grads(%w) lr(%lr : f32) {momentum = 0.9} : tensor<4xf32>
  return
}
