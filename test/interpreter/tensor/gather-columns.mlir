// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @gather() {
  %t = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %i = arith.constant dense<[[1]]> : tensor<1x1xindex>
  %g = tensor.gather %t[%i] gather_dims([1]) : (tensor<3x2xi32>, tensor<1x1xindex>) -> tensor<1x3xi32>
  %e = arith.constant dense<[[2, 4, 6]]> : tensor<1x3xi32>
  check.equal_bits %g, %e : tensor<1x3xi32>
  return
}
