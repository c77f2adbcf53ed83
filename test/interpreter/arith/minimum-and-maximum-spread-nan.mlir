// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @nan() {
  %a = arith.constant dense<[1.0, 0x7FC00000, 0x7FC00000]> : tensor<3xf32>
  %b = arith.constant dense<[2.0, 2.0, 0x7FC00000]> : tensor<3xf32>
  %minimum = arith.minimumf %a, %b : tensor<3xf32>
  %maximum = arith.maximumf %a, %b : tensor<3xf32>
  %minnum = arith.minnumf %a, %b : tensor<3xf32>
  %maxnum = arith.maxnumf %a, %b : tensor<3xf32>
  %e0 = arith.constant dense<[1.0, 0x7FC00000, 0x7FC00000]> : tensor<3xf32>
  %e1 = arith.constant dense<[2.0, 0x7FC00000, 0x7FC00000]> : tensor<3xf32>
  %e2 = arith.constant dense<[1.0, 2.0, 0x7FC00000]> : tensor<3xf32>
  %e3 = arith.constant dense<[2.0, 2.0, 0x7FC00000]> : tensor<3xf32>
  check.equal_bits %minimum, %e0 : tensor<3xf32>
  check.equal_bits %maximum, %e1 : tensor<3xf32>
  check.equal_bits %minnum, %e2 : tensor<3xf32>
  check.equal_bits %maxnum, %e3 : tensor<3xf32>
  return
}
