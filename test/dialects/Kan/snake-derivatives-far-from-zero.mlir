// RUN: drawloom-opt %s --differentiate --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --differentiate --decompose-graph --decompose-blocks --interpret-checks -o /dev/null

// 1 + sin(x) and cos(x), from 50 decimal digits: no digits are lost at 800.
func.func private @apply(%x: tensor<5xf64>) -> tensor<5xf64> {
  %y = kan.snake %x {alpha = 0.5} : tensor<5xf64>
  return %y : tensor<5xf64>
}

func.func private @first(%x: tensor<5xf64>) -> tensor<5xf64> {
  %one = arith.constant dense<1.0> : tensor<5xf64>
  %y, %dx = ad.vjp @apply(%x) cotangents(%one) wrt [0] : (tensor<5xf64>) -> (tensor<5xf64>, tensor<5xf64>)
  return %dx : tensor<5xf64>
}

func.func @test() {
  %x = arith.constant dense<[-800.0, -1.0, 0.0, 200.0, 800.0]> : tensor<5xf64>
  %one = arith.constant dense<1.0> : tensor<5xf64>
  %first, %second = ad.vjp @first(%x) cotangents(%one) wrt [0] : (tensor<5xf64>) -> (tensor<5xf64>, tensor<5xf64>)
  %expected_first = arith.constant dense<[0.10603035180297858, 0.1585290151921035, 1.0, 0.12670270278600543, 1.8939696481970214]> : tensor<5xf64>
  %expected_second = arith.constant dense<[-0.44812751321749233, 0.5403023058681398, 1.0, 0.48718767500700594, -0.44812751321749233]> : tensor<5xf64>
  check.close %first, %expected_first : tensor<5xf64>
  check.close %second, %expected_second : tensor<5xf64>
  return
}
