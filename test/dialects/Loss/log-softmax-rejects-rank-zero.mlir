// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%y: tensor<f32>) {
  // expected-error @below {{x must have at least one dimension}}
  %0 = loss.log_softmax %y : tensor<f32>
  return
}
