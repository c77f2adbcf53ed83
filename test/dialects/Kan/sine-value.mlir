// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --decompose-blocks --interpret-checks -o /dev/null

func.func private @apply(%x: tensor<2xf64>) -> tensor<2xf64> {
  %y = kan.sine %x {omega = 30.0} : tensor<2xf64>
  return %y : tensor<2xf64>
}

func.func @test() {
  %x = arith.constant dense<[0.1, -2.0]> : tensor<2xf64>
  %y = call @apply(%x) : (tensor<2xf64>) -> tensor<2xf64>
  %expected = arith.constant dense<[0.14112000805986721, 0.3048106211022167]> : tensor<2xf64>
  check.close %y, %expected {equal_nan} : tensor<2xf64>
  return
}
