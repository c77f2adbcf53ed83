// RUN: drawloom-opt %s --interpret-checks -verify-diagnostics

func.func @test() {
  %x = arith.constant dense<0.0> : tensor<2x3xf32>
  %labels = arith.constant dense<[0, 3]> : tensor<2xi32>
  // expected-error @below {{label 3 of row 1 is not in [0, 3)}}
  %loss = loss.softmax_cross_entropy %x, %labels : tensor<2x3xf32>, tensor<2xi32> -> tensor<f32>
  check.close %loss, %loss : tensor<f32>
  return
}
