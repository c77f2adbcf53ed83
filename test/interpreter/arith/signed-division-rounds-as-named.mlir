// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @divide() {
  %a = arith.constant dense<[7, -7, 7, -7]> : tensor<4xi32>
  %b = arith.constant dense<[2, 2, -2, -2]> : tensor<4xi32>
  %zero = arith.divsi %a, %b : tensor<4xi32>
  %floor = arith.floordivsi %a, %b : tensor<4xi32>
  %ceil = arith.ceildivsi %a, %b : tensor<4xi32>
  %rem = arith.remsi %a, %b : tensor<4xi32>
  %e0 = arith.constant dense<[3, -3, -3, 3]> : tensor<4xi32>
  %e1 = arith.constant dense<[3, -4, -4, 3]> : tensor<4xi32>
  %e2 = arith.constant dense<[4, -3, -3, 4]> : tensor<4xi32>
  %e3 = arith.constant dense<[1, -1, 1, -1]> : tensor<4xi32>
  check.equal_bits %zero, %e0 : tensor<4xi32>
  check.equal_bits %floor, %e1 : tensor<4xi32>
  check.equal_bits %ceil, %e2 : tensor<4xi32>
  check.equal_bits %rem, %e3 : tensor<4xi32>
  return
}
