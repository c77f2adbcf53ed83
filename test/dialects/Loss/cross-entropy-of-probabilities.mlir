// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

func.func private @loss(%a0: tensor<2x3xf64>, %a1: tensor<2x3xf64>) -> tensor<f64> {
  %loss = loss.softmax_cross_entropy %a0, %a1 : tensor<2x3xf64>, tensor<2x3xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @test() {
  %a0 = arith.constant dense<[[1.0, 2.0, 3.0], [1000.0, -1000.0, 0.0]]> : tensor<2x3xf64>
  %a1 = arith.constant dense<[[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]> : tensor<2x3xf64>
  %loss = call @loss(%a0, %a1) : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<f64>
  %expected = arith.constant dense<0.5538029822221903> : tensor<f64>
  check.close %loss, %expected : tensor<f64>
  return
}
