// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%x: tensor<8x2xf32>, %t: tensor<2x100x4xf64>) {
  // expected-error @below {{x and the tables must both be f64, or neither, but are 'f32' and 'f64'}}
  %0 = kan.grid_encode %x, %t {base_resolution = 4, growth = 1.5} : tensor<8x2xf32>, tensor<2x100x4xf64> -> tensor<8x8xf64>
  return
}
