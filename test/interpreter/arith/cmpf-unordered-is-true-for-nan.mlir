// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @compare() {
  %a = arith.constant dense<[1.0, 2.0, 0x7FC00000]> : tensor<3xf32>
  %b = arith.constant dense<[2.0, 2.0, 2.0]> : tensor<3xf32>
  %ult = arith.cmpf ult, %a, %b : tensor<3xf32>
  %ugt = arith.cmpf ugt, %a, %b : tensor<3xf32>
  %ueq = arith.cmpf ueq, %a, %b : tensor<3xf32>
  %uno = arith.cmpf uno, %a, %b : tensor<3xf32>
  %e0 = arith.constant dense<[true, false, true]> : tensor<3xi1>
  %e1 = arith.constant dense<[false, false, true]> : tensor<3xi1>
  %e2 = arith.constant dense<[false, true, true]> : tensor<3xi1>
  %e3 = arith.constant dense<[false, false, true]> : tensor<3xi1>
  check.equal_bits %ult, %e0 : tensor<3xi1>
  check.equal_bits %ugt, %e1 : tensor<3xi1>
  check.equal_bits %ueq, %e2 : tensor<3xi1>
  check.equal_bits %uno, %e3 : tensor<3xi1>
  return
}
