// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%x: tensor<2x3x4xf32>, %l: tensor<2xi32>) {
  // expected-error @below {{the logits must have shape [rows, classes]}}
  %0 = loss.softmax_cross_entropy %x, %l : tensor<2x3x4xf32>, tensor<2xi32> -> tensor<f32>
  return
}
