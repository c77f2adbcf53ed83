// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

// A class that a mask gave the logit -inf does not disturb the others.
func.func private @loss(%a0: tensor<1x3xf64>, %a1: tensor<1xindex>) -> tensor<f64> {
  %loss = loss.softmax_cross_entropy %a0, %a1 : tensor<1x3xf64>, tensor<1xindex> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @test() {
  %a0 = arith.constant dense<[[0.0, 0xFFF0000000000000, 1.0986122886681098]]> : tensor<1x3xf64>
  %a1 = arith.constant dense<[2]> : tensor<1xindex>
  %loss = call @loss(%a0, %a1) : (tensor<1x3xf64>, tensor<1xindex>) -> tensor<f64>
  %expected = arith.constant dense<0.2876820724517809> : tensor<f64>
  check.close %loss, %expected : tensor<f64>
  return
}
