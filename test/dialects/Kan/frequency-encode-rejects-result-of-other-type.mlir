// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%x: tensor<8x2xf32>) {
  // expected-error @below {{the result must be 'tensor<8x8xf32>', but is 'tensor<8x4xf32>'}}
  %0 = kan.frequency_encode %x {octaves = 2} : tensor<8x2xf32> -> tensor<8x4xf32>
  return
}
