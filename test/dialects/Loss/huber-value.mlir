// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

// d = 0.25, -0.5, 3: 1/32, 1/8, 1/2 (3 - 1/4).
func.func private @loss(%a0: tensor<3xf64>, %a1: tensor<3xf64>) -> tensor<f64> {
  %loss = loss.huber %a0, %a1 {delta = 0.5} : tensor<3xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @test() {
  %a0 = arith.constant dense<[1.25, 0.5, 3.0]> : tensor<3xf64>
  %a1 = arith.constant dense<[1.0, 1.0, 0.0]> : tensor<3xf64>
  %loss = call @loss(%a0, %a1) : (tensor<3xf64>, tensor<3xf64>) -> tensor<f64>
  %expected = arith.constant dense<0.5104166666666666> : tensor<f64>
  check.close %loss, %expected : tensor<f64>
  return
}
