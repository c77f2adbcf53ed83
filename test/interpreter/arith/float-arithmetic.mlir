// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @arithmetic() {
  %a = arith.constant dense<[7.0, -7.0, 0.5]> : tensor<3xf64>
  %b = arith.constant dense<[2.0, 2.0, -4.0]> : tensor<3xf64>
  %sum = arith.addf %a, %b : tensor<3xf64>
  %difference = arith.subf %a, %b : tensor<3xf64>
  %product = arith.mulf %a, %b : tensor<3xf64>
  %quotient = arith.divf %a, %b : tensor<3xf64>
  %remainder = arith.remf %a, %b : tensor<3xf64>
  %negated = arith.negf %a : tensor<3xf64>
  %e0 = arith.constant dense<[9.0, -5.0, -3.5]> : tensor<3xf64>
  %e1 = arith.constant dense<[5.0, -9.0, 4.5]> : tensor<3xf64>
  %e2 = arith.constant dense<[14.0, -14.0, -2.0]> : tensor<3xf64>
  %e3 = arith.constant dense<[3.5, -3.5, -0.125]> : tensor<3xf64>
  %e4 = arith.constant dense<[1.0, -1.0, 0.5]> : tensor<3xf64>
  %e5 = arith.constant dense<[-7.0, 7.0, -0.5]> : tensor<3xf64>
  check.equal_bits %sum, %e0 : tensor<3xf64>
  check.equal_bits %difference, %e1 : tensor<3xf64>
  check.equal_bits %product, %e2 : tensor<3xf64>
  check.equal_bits %quotient, %e3 : tensor<3xf64>
  check.equal_bits %remainder, %e4 : tensor<3xf64>
  check.equal_bits %negated, %e5 : tensor<3xf64>
  return
}
