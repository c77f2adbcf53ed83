// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

func.func private @loss(%a0: tensor<0x3xf32>, %a1: tensor<0xi64>) -> tensor<f32> {
  %loss = loss.softmax_cross_entropy %a0, %a1 : tensor<0x3xf32>, tensor<0xi64> -> tensor<f32>
  return %loss : tensor<f32>
}

func.func @test() {
  %a0 = tensor.empty() : tensor<0x3xf32>
  %a1 = tensor.empty() : tensor<0xi64>
  %loss = call @loss(%a0, %a1) : (tensor<0x3xf32>, tensor<0xi64>) -> tensor<f32>
  %expected = arith.constant dense<0.0> : tensor<f32>
  check.close %loss, %expected : tensor<f32>
  return
}
