// RUN: drawloom-opt %s --interpret-checks

func.func @divide() {
  %a = arith.constant dense<[7, -7, 0]> : tensor<3xi8>
  %b = arith.constant dense<0> : tensor<3xi8>
  %0 = arith.remsi %a, %b : tensor<3xi8>
  %1 = arith.remui %a, %b : tensor<3xi8>
  check.equal_bits %0, %a : tensor<3xi8>
  check.equal_bits %1, %a : tensor<3xi8>
  return
}
