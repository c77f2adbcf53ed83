// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @bits() {
  %f = arith.constant dense<[1.0, -2.0]> : tensor<2xf32>
  %i = tensor.bitcast %f : tensor<2xf32> to tensor<2xi32>
  %e = arith.constant dense<[0x3F800000, 0xC0000000]> : tensor<2xi32>
  check.equal_bits %i, %e : tensor<2xi32>
  return
}
