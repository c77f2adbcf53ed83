// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%x: tensor<4x8xf32>, %a: tensor<1x6xf32>, %b: tensor<1x0xf32>) {
  // expected-error @below {{the denominator must have shape [groups, coefficients]}}
  %0 = kan.rational %x, %a, %b : tensor<4x8xf32>, tensor<1x6xf32>, tensor<1x0xf32>
  return
}
