// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%x: tensor<2x3xf32>, %l: tensor<3xi32>) {
  // expected-error @below {{class labels must have shape [rows] of the logits}}
  %0 = loss.softmax_cross_entropy %x, %l : tensor<2x3xf32>, tensor<3xi32> -> tensor<f32>
  return
}
