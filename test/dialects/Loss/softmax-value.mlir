// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

func.func private @apply(%x: tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2x2xf64>) {
  %y = loss.softmax %x : tensor<2x2xf64>
  %z = loss.log_softmax %x : tensor<2x2xf64>
  return %y, %z : tensor<2x2xf64>, tensor<2x2xf64>
}

func.func @test() {
  %x = arith.constant dense<[[0.0, 1.0986122886681098], [900.0, 900.0]]> : tensor<2x2xf64>
  %y, %z = call @apply(%x) : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2x2xf64>)
  %e = arith.constant dense<[[0.25, 0.75], [0.5, 0.5]]> : tensor<2x2xf64>
  %l = arith.constant dense<[[-1.3862943611198906, -0.2876820724517809], [-0.6931471805599453, -0.6931471805599453]]> : tensor<2x2xf64>
  check.close %y, %e : tensor<2x2xf64>
  check.close %z, %l : tensor<2x2xf64>
  return
}
