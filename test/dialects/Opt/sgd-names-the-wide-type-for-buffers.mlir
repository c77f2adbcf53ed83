// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%w: tensor<4xf32>, %h: tensor<4xf16>, %d: tensor<4xf64>, %lr: f32, %t: i64) {
  // expected-error @below {{(f32 elements would do as well)}}
  %0:2 = opt.sgd params(%h) grads(%h) buffers(%d) lr(%lr : f32) {momentum = 0.9} : tensor<4xf16> buffers tensor<4xf64>
  return
}
