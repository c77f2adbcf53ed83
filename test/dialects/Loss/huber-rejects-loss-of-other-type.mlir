// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%y: tensor<4xbf16>) {
  // expected-error @below {{the loss must be tensor<'f32'> for operands of 'bf16'}}
  %0 = loss.huber %y, %y : tensor<4xbf16> -> tensor<f64>
  return
}
