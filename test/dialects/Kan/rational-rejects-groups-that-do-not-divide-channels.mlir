// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%x: tensor<4x64xf32>, %a: tensor<1x6xf32>, %b: tensor<6x4xf32>) {
  // expected-error @below {{the 6 denominator groups do not divide the 64 channels of x}}
  %0 = kan.rational %x, %a, %b : tensor<4x64xf32>, tensor<1x6xf32>, tensor<6x4xf32>
  return
}
