// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%x: tensor<2x3xf32>, %l: tensor<2xi32>) {
  // expected-error @below {{the loss must be tensor<'f32'>}}
  %0 = loss.softmax_cross_entropy %x, %l : tensor<2x3xf32>, tensor<2xi32> -> tensor<f64>
  return
}
