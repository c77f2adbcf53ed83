// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --decompose-blocks --interpret-checks -o /dev/null

func.func private @apply(%x: tensor<3xf64>) -> tensor<3xf64> {
  %y = kan.tanh %x : tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @test() {
  %x = arith.constant dense<[-1.0, 0.0, 400.0]> : tensor<3xf64>
  %y = call @apply(%x) : (tensor<3xf64>) -> tensor<3xf64>
  %expected = arith.constant dense<[-0.76159415595576485, 0.0, 1.0]> : tensor<3xf64>
  check.close %y, %expected {equal_nan} : tensor<3xf64>
  return
}
