// RUN: drawloom-opt %s --differentiate --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --differentiate --decompose-graph --decompose-blocks --interpret-checks -o /dev/null

// exp(800) overflows, and 0 times its infinity would be NaN.
func.func private @apply(%x: tensor<5xf64>) -> tensor<5xf64> {
  %y = kan.elu %x {alpha = 0.5} : tensor<5xf64>
  return %y : tensor<5xf64>
}

func.func private @first(%x: tensor<5xf64>) -> tensor<5xf64> {
  %one = arith.constant dense<1.0> : tensor<5xf64>
  %y, %dx = ad.vjp @apply(%x) cotangents(%one) wrt [0] : (tensor<5xf64>) -> (tensor<5xf64>, tensor<5xf64>)
  return %dx : tensor<5xf64>
}

func.func @test() {
  %x = arith.constant dense<[-800.0, -200.0, -1.0, 200.0, 800.0]> : tensor<5xf64>
  %one = arith.constant dense<1.0> : tensor<5xf64>
  %first, %second = ad.vjp @first(%x) cotangents(%one) wrt [0] : (tensor<5xf64>) -> (tensor<5xf64>, tensor<5xf64>)
  %expected_first = arith.constant dense<[0.0, 6.919482633683688e-88, 0.18393972058572117, 1.0, 1.0]> : tensor<5xf64>
  %expected_second = arith.constant dense<[0.0, 6.919482633683688e-88, 0.18393972058572117, 0.0, 0.0]> : tensor<5xf64>
  check.close %first, %expected_first : tensor<5xf64>
  check.close %second, %expected_second : tensor<5xf64>
  return
}
