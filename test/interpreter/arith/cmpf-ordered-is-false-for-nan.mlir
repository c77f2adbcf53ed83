// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @compare() {
  %a = arith.constant dense<[1.0, 2.0, 0x7FC00000]> : tensor<3xf32>
  %b = arith.constant dense<[2.0, 2.0, 2.0]> : tensor<3xf32>
  %olt = arith.cmpf olt, %a, %b : tensor<3xf32>
  %oge = arith.cmpf oge, %a, %b : tensor<3xf32>
  %one = arith.cmpf one, %a, %b : tensor<3xf32>
  %ord = arith.cmpf ord, %a, %b : tensor<3xf32>
  %e0 = arith.constant dense<[true, false, false]> : tensor<3xi1>
  %e1 = arith.constant dense<[false, true, false]> : tensor<3xi1>
  %e2 = arith.constant dense<[true, false, false]> : tensor<3xi1>
  %e3 = arith.constant dense<[true, true, false]> : tensor<3xi1>
  check.equal_bits %olt, %e0 : tensor<3xi1>
  check.equal_bits %oge, %e1 : tensor<3xi1>
  check.equal_bits %one, %e2 : tensor<3xi1>
  check.equal_bits %ord, %e3 : tensor<3xi1>
  return
}
