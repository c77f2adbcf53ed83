// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --decompose-blocks --interpret-checks -o /dev/null

func.func private @apply(%x: tensor<6xf64>) -> tensor<6xf64> {
  %y = kan.relu %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @test() {
  %x = arith.constant dense<[-2.0, -0.0, 3.0, 0x7FF8000000000000, 0xFFF0000000000000, 0x7FF0000000000000]> : tensor<6xf64>
  %y = call @apply(%x) : (tensor<6xf64>) -> tensor<6xf64>
  %expected = arith.constant dense<[0.0, 0.0, 3.0, 0x7FF8000000000000, 0.0, 0x7FF0000000000000]> : tensor<6xf64>
  check.close %y, %expected {equal_nan} : tensor<6xf64>
  return
}
