// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --decompose-blocks --interpret-checks -o /dev/null

// (exp(x) - 1) / 2 below 0, from 40 decimal digits; exp(800) overflows.
func.func private @apply(%x: tensor<6xf64>) -> tensor<6xf64> {
  %y = kan.elu %x {alpha = 0.5} : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @test() {
  %x = arith.constant dense<[-800.0, -1.0, 0.0, 3.0, 800.0, 0x7FF8000000000000]> : tensor<6xf64>
  %y = call @apply(%x) : (tensor<6xf64>) -> tensor<6xf64>
  %expected = arith.constant dense<[-0.5, -0.31606027941427883, 0.0, 3.0, 800.0, 0x7FF8000000000000]> : tensor<6xf64>
  check.close %y, %expected {equal_nan} : tensor<6xf64>
  return
}
