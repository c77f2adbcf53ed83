// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @compare() {
  %a = arith.constant dense<[-1, 1, 5]> : tensor<3xi8>
  %b = arith.constant dense<[1, 1, 3]> : tensor<3xi8>
  %slt = arith.cmpi slt, %a, %b : tensor<3xi8>
  %ult = arith.cmpi ult, %a, %b : tensor<3xi8>
  %sge = arith.cmpi sge, %a, %b : tensor<3xi8>
  %ne = arith.cmpi ne, %a, %b : tensor<3xi8>
  %e0 = arith.constant dense<[true, false, false]> : tensor<3xi1>
  %e1 = arith.constant dense<[false, false, false]> : tensor<3xi1>
  %e2 = arith.constant dense<[false, true, true]> : tensor<3xi1>
  %e3 = arith.constant dense<[true, false, true]> : tensor<3xi1>
  check.equal_bits %slt, %e0 : tensor<3xi1>
  check.equal_bits %ult, %e1 : tensor<3xi1>
  check.equal_bits %sge, %e2 : tensor<3xi1>
  check.equal_bits %ne, %e3 : tensor<3xi1>
  return
}
