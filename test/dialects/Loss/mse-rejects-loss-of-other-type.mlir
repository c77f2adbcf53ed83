// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%y: tensor<4xf64>) {
  // expected-error @below {{the loss must be tensor<'f64'> for operands of 'f64'}}
  %0 = loss.mse %y, %y : tensor<4xf64> -> tensor<f32>
  return
}
