// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @functions() {
  %x = arith.constant dense<[1.0, 0x7FC00000, 0x7F800000, 0.0]> : tensor<4xf32>
  %finite = math.isfinite %x : tensor<4xf32>
  %inf = math.isinf %x : tensor<4xf32>
  %nan = math.isnan %x : tensor<4xf32>
  %normal = math.isnormal %x : tensor<4xf32>
  %e0 = arith.constant dense<[true, false, false, true]> : tensor<4xi1>
  %e1 = arith.constant dense<[false, false, true, false]> : tensor<4xi1>
  %e2 = arith.constant dense<[false, true, false, false]> : tensor<4xi1>
  %e3 = arith.constant dense<[true, false, false, false]> : tensor<4xi1>
  check.equal_bits %finite, %e0 : tensor<4xi1>
  check.equal_bits %inf, %e1 : tensor<4xi1>
  check.equal_bits %nan, %e2 : tensor<4xi1>
  check.equal_bits %normal, %e3 : tensor<4xi1>
  return
}
