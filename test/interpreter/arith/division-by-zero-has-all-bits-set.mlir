// RUN: drawloom-opt %s --interpret-checks

func.func @divide() {
  %a = arith.constant dense<[7, -7, 0]> : tensor<3xi32>
  %b = arith.constant dense<0> : tensor<3xi32>
  %ones = arith.constant dense<-1> : tensor<3xi32>
  %0 = arith.divsi %a, %b : tensor<3xi32>
  %1 = arith.divui %a, %b : tensor<3xi32>
  %2 = arith.floordivsi %a, %b : tensor<3xi32>
  %3 = arith.ceildivsi %a, %b : tensor<3xi32>
  %4 = arith.ceildivui %a, %b : tensor<3xi32>
  check.equal_bits %0, %ones : tensor<3xi32>
  check.equal_bits %1, %ones : tensor<3xi32>
  check.equal_bits %2, %ones : tensor<3xi32>
  check.equal_bits %3, %ones : tensor<3xi32>
  check.equal_bits %4, %ones : tensor<3xi32>
  return
}
