// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --decompose-blocks --interpret-checks -o /dev/null

// log(1 + exp(2 x)) / 2; exp(1600) overflows.
func.func private @apply(%x: tensor<5xf64>) -> tensor<5xf64> {
  %y = kan.softplus %x {beta = 2.0} : tensor<5xf64>
  return %y : tensor<5xf64>
}

func.func @test() {
  %x = arith.constant dense<[-800.0, 0.0, 0.5, 800.0, 0x7FF8000000000000]> : tensor<5xf64>
  %y = call @apply(%x) : (tensor<5xf64>) -> tensor<5xf64>
  %expected = arith.constant dense<[0.0, 0.34657359027997264, 0.6566308437591114, 800.0, 0x7FF8000000000000]> : tensor<5xf64>
  check.close %y, %expected {equal_nan} : tensor<5xf64>
  return
}
