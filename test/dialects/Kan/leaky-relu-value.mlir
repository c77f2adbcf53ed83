// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --decompose-blocks --interpret-checks -o /dev/null

func.func private @apply(%x: tensor<4xf64>) -> tensor<4xf64> {
  %y = kan.leaky_relu %x {slope = 0.2} : tensor<4xf64>
  return %y : tensor<4xf64>
}

func.func @test() {
  %x = arith.constant dense<[-2.0, 0.0, 3.0, 0x7FF8000000000000]> : tensor<4xf64>
  %y = call @apply(%x) : (tensor<4xf64>) -> tensor<4xf64>
  %expected = arith.constant dense<[-0.4, 0.0, 3.0, 0x7FF8000000000000]> : tensor<4xf64>
  check.close %y, %expected {equal_nan} : tensor<4xf64>
  return
}
