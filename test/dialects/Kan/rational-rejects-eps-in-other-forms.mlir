// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%x: tensor<4x8xf32>, %a: tensor<1x6xf32>, %b: tensor<1x4xf32>) {
  // expected-error @below {{only form abs_sum_eps takes eps}}
  %0 = kan.rational %x, %a, %b {eps = 0.1} : tensor<4x8xf32>, tensor<1x6xf32>, tensor<1x4xf32>
  return
}
