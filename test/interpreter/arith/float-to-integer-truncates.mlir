// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @casts() {
  %a = arith.constant dense<[2.9, -2.9, 0.0]> : tensor<3xf32>
  %i = arith.fptosi %a : tensor<3xf32> to tensor<3xi32>
  %b = arith.sitofp %i : tensor<3xi32> to tensor<3xf32>
  %e0 = arith.constant dense<[2, -2, 0]> : tensor<3xi32>
  %e1 = arith.constant dense<[2.0, -2.0, 0.0]> : tensor<3xf32>
  check.equal_bits %i, %e0 : tensor<3xi32>
  check.equal_bits %b, %e1 : tensor<3xf32>
  return
}
