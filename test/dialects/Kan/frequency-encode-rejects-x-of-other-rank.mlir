// RUN: drawloom-opt %s -verify-diagnostics

func.func @rejected(%x: tensor<8xf32>) {
  // expected-error @below {{x must have shape [rows, coordinates] with a static number of coordinates}}
  %0 = kan.frequency_encode %x {octaves = 2} : tensor<8xf32> -> tensor<32xf32>
  return
}
