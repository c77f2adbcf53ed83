// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%w: tensor<4xf32>, %h: tensor<4xf16>, %d: tensor<4xf64>, %lr: f32, %t: i64) {
  // expected-error @below {{a grads tensor has type 'tensor<4xf64>' where the parameter has 'tensor<4xf32>'}}
  %0:3 = "opt.adamw"(%w, %d, %w, %w, %lr, %t) {beta1 = 0.9, beta2 = 0.9, epsilon = 1.0e-8} : (tensor<4xf32>, tensor<4xf64>, tensor<4xf32>, tensor<4xf32>, f32, i64) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}
