// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%x: tensor<4x8xf64>, %a: tensor<1x6xf32>, %b: tensor<1x4xf64>) {
  // expected-error @below {{the numerator must be 'f64' as x is}}
  %0 = kan.rational %x, %a, %b : tensor<4x8xf64>, tensor<1x6xf32>, tensor<1x4xf64>
  return
}
