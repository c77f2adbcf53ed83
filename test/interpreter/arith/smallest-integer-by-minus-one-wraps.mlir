// RUN: drawloom-opt %s --interpret-checks

func.func @divide() {
  %a = arith.constant dense<-128> : tensor<1xi8>
  %b = arith.constant dense<-1> : tensor<1xi8>
  %zero = arith.constant dense<0> : tensor<1xi8>
  %0 = arith.divsi %a, %b : tensor<1xi8>
  %1 = arith.floordivsi %a, %b : tensor<1xi8>
  %2 = arith.ceildivsi %a, %b : tensor<1xi8>
  %3 = arith.remsi %a, %b : tensor<1xi8>
  check.equal_bits %0, %a : tensor<1xi8>
  check.equal_bits %1, %a : tensor<1xi8>
  check.equal_bits %2, %a : tensor<1xi8>
  check.equal_bits %3, %zero : tensor<1xi8>
  return
}
