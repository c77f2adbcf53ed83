// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @convolution() {
  %c4 = arith.constant 4 : index
  %x = tensor.empty(%c4) : tensor<?xf32>
  %k = arith.constant dense<1.0> : tensor<3xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  // expected-error @+1 {{operand #0 is accessed at index 4 of dimension 0, whose size is 4}}
  %y = linalg.conv_1d ins(%x, %k : tensor<?xf32>, tensor<3xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
  return
}
