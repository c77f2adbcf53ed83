// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

func.func private @apply(%x: tensor<1x4xf64>, %a: tensor<1x4xf64>, %b: tensor<2x2xf64>) -> tensor<1x4xf64> {
  %y = kan.rational %x, %a, %b form(abs_sum_eps) {eps = 0.25} : tensor<1x4xf64>, tensor<1x4xf64>, tensor<2x2xf64>
  return %y : tensor<1x4xf64>
}

func.func @test() {
  %x = arith.constant dense<[[-2.0, -0.5, 0.0, 1.5]]> : tensor<1x4xf64>
  %a = arith.constant dense<[[0.3, -1.0, 0.5, 0.25]]> : tensor<1x4xf64>
  %b = arith.constant dense<[[-0.4, 0.2], [0.1, -0.3]]> : tensor<2x2xf64>
  %y = call @apply(%x, %a, %b) : (tensor<1x4xf64>, tensor<1x4xf64>, tensor<2x2xf64>) -> tensor<1x4xf64>
  %expected = arith.constant dense<[[2.1904761904761902, 1.1916666666666667, 0.8571428571428572, 1.2812500000000002]]> : tensor<1x4xf64>
  check.close %y, %expected : tensor<1x4xf64>
  return
}
