// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @zeros() {
  %a = arith.constant dense<[0.0, -0.0]> : tensor<2xf32>
  %b = arith.constant dense<[-0.0, 0.0]> : tensor<2xf32>
  %minimum = arith.minimumf %a, %b : tensor<2xf32>
  %maximum = arith.maximumf %a, %b : tensor<2xf32>
  %e0 = arith.constant dense<-0.0> : tensor<2xf32>
  %e1 = arith.constant dense<0.0> : tensor<2xf32>
  check.equal_bits %minimum, %e0 : tensor<2xf32>
  check.equal_bits %maximum, %e1 : tensor<2xf32>
  return
}
