// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%x: tensor<8x2xf32>, %t: tensor<100x4xf32>) {
  // expected-error @below {{the tables must have shape [levels, entries, features]}}
  %0 = kan.grid_encode %x, %t {base_resolution = 4, growth = 1.5} : tensor<8x2xf32>, tensor<100x4xf32> -> tensor<8x8xf32>
  return
}
