// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%x: tensor<4x24xf32>, %a: tensor<2x6xf32>, %b: tensor<3x4xf32>) {
  // expected-error @below {{neither the number of numerator groups (2) nor that of denominator groups (3) divides the other}}
  %0 = kan.rational %x, %a, %b : tensor<4x24xf32>, tensor<2x6xf32>, tensor<3x4xf32>
  return
}
