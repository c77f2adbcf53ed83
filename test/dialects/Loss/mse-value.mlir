// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

func.func private @loss(%a0: tensor<2x2xf64>, %a1: tensor<2x2xf64>) -> tensor<f64> {
  %loss = loss.mse %a0, %a1 : tensor<2x2xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @test() {
  %a0 = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64>
  %a1 = arith.constant dense<[[1.0, 0.0], [0.0, 5.0]]> : tensor<2x2xf64>
  %loss = call @loss(%a0, %a1) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<f64>
  %expected = arith.constant dense<3.5> : tensor<f64>
  check.close %loss, %expected : tensor<f64>
  return
}
