// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%w: tensor<4xf32>, %h: tensor<4xf16>, %d: tensor<4xf64>, %lr: f32, %t: i64) {
  // expected-error @below {{a first tensor has type 'tensor<4xf64>' where the parameter has 'tensor<4xf32>'}}
  %0:3 = opt.adamw params(%w) grads(%w) first(%d) second(%d) lr(%lr : f32) step(%t : i64) : tensor<4xf32> moments tensor<4xf64>
  return
}
