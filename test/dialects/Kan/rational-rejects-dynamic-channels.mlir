// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%x: tensor<4x?xf32>, %a: tensor<1x6xf32>, %b: tensor<1x4xf32>) {
  // expected-error @below {{x must have a last dimension of static size (the channels)}}
  %0 = kan.rational %x, %a, %b : tensor<4x?xf32>, tensor<1x6xf32>, tensor<1x4xf32>
  return
}
