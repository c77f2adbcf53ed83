// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%x: tensor<8x4xf32>, %t: tensor<2x100x4xf32>) {
  // expected-error @below {{x must have shape [rows, 2] or [rows, 3]}}
  %0 = kan.grid_encode %x, %t {base_resolution = 4, growth = 1.5} : tensor<8x4xf32>, tensor<2x100x4xf32> -> tensor<8x8xf32>
  return
}
