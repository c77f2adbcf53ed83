// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%x: tensor<8x2xf32>, %t: tensor<2x100x4xf32>) {
  // expected-error @below {{the finest level's resolution exceeds 2^24}}
  %0 = kan.grid_encode %x, %t {base_resolution = 16, finest_resolution = 33554432} : tensor<8x2xf32>, tensor<2x100x4xf32> -> tensor<8x8xf32>
  return
}
