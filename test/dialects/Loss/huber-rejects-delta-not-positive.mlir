// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%y: tensor<4xf32>) {
  // expected-error @below {{delta must be positive}}
  %0 = loss.huber %y, %y {delta = -1.0} : tensor<4xf32> -> tensor<f32>
  return
}
