// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%x: tensor<2x3xf32>, %l: tensor<2x3xf64>) {
  // expected-error @below {{probabilities must have the logits' type}}
  %0 = loss.softmax_cross_entropy %x, %l : tensor<2x3xf32>, tensor<2x3xf64> -> tensor<f32>
  return
}
