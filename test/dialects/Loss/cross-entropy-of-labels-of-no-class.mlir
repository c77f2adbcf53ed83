// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

func.func private @loss(%a0: tensor<3x2xf64>, %a1: tensor<3xi32>) -> tensor<f64> {
  %loss = loss.softmax_cross_entropy %a0, %a1 : tensor<3x2xf64>, tensor<3xi32> -> tensor<f64>
  return %loss : tensor<f64>
}

// ln 2 of the second row, among three.
func.func @test() {
  %a0 = arith.constant dense<0.0> : tensor<3x2xf64>
  %a1 = arith.constant dense<[2, 1, -1]> : tensor<3xi32>
  %loss = call @loss(%a0, %a1) : (tensor<3x2xf64>, tensor<3xi32>) -> tensor<f64>
  %expected = arith.constant dense<0.23104906018664842> : tensor<f64>
  check.close %loss, %expected : tensor<f64>
  return
}
