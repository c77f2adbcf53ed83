// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --decompose-blocks --interpret-checks -o /dev/null

func.func private @apply(%x: tensor<4xf64>) -> tensor<4xf64> {
  %y = kan.gelu %x : tensor<4xf64>
  return %y : tensor<4xf64>
}

func.func @test() {
  %x = arith.constant dense<[-3.0, 0.0, 1.0, 30.0]> : tensor<4xf64>
  %y = call @apply(%x) : (tensor<4xf64>) -> tensor<4xf64>
  %expected = arith.constant dense<[-0.004049694094890287, 0.0, 0.84134474606854293, 30.0]> : tensor<4xf64>
  check.close %y, %expected {equal_nan} : tensor<4xf64>
  return
}
