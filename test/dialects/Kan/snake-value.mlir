// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --decompose-blocks --interpret-checks -o /dev/null

// x + 2 sin(x / 2)^2, from 50 decimal digits; at 1e300 the sine adds nothing.
func.func private @apply(%x: tensor<6xf64>) -> tensor<6xf64> {
  %y = kan.snake %x {alpha = 0.5} : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @test() {
  %x = arith.constant dense<[-800.0, -1.0, 0.0, 3.0, 1.0e300, 0x7FF8000000000000]> : tensor<6xf64>
  %y = call @apply(%x) : (tensor<6xf64>) -> tensor<6xf64>
  %expected = arith.constant dense<[-798.5518724867825, -0.5403023058681398, 0.0, 4.989992496600445, 1.0e300, 0x7FF8000000000000]> : tensor<6xf64>
  check.close %y, %expected {equal_nan} : tensor<6xf64>
  return
}
