// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @convolution() {
  %x = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %k = arith.constant dense<[1.0, 0.0, -1.0]> : tensor<3xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %y = linalg.conv_1d ins(%x, %k : tensor<5xf32>, tensor<3xf32>) outs(%zero : tensor<3xf32>) -> tensor<3xf32>
  %e = arith.constant dense<-2.0> : tensor<3xf32>
  check.equal_bits %y, %e : tensor<3xf32>
  return
}
