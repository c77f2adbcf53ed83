// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%x: tensor<8x2xf32>) {
  // expected-error @below {{octaves must lie in [1, 64], but is 0}}
  %0 = kan.frequency_encode %x {octaves = 0} : tensor<8x2xf32> -> tensor<8x0xf32>
  return
}
