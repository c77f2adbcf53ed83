// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%x: tensor<8x2xf32>, %t: tensor<2x100x4xf32>) {
  // expected-error @below {{finest_resolution must be at least base_resolution}}
  %0 = kan.grid_encode %x, %t {base_resolution = 4, finest_resolution = 3} : tensor<8x2xf32>, tensor<2x100x4xf32> -> tensor<8x8xf32>
  return
}
