// RUN: drawloom-opt %s --interpret-checks

func.func @shift() {
  %a = arith.constant dense<[5, -5, 5]> : tensor<3xi32>
  %b = arith.constant dense<[32, 40, -1]> : tensor<3xi32>
  %zero = arith.constant dense<0> : tensor<3xi32>
  %signs = arith.constant dense<[0, -1, 0]> : tensor<3xi32>
  %0 = arith.shli %a, %b : tensor<3xi32>
  %1 = arith.shrui %a, %b : tensor<3xi32>
  %2 = arith.shrsi %a, %b : tensor<3xi32>
  check.equal_bits %0, %zero : tensor<3xi32>
  check.equal_bits %1, %zero : tensor<3xi32>
  check.equal_bits %2, %signs : tensor<3xi32>
  return
}
