// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @reshape() {
  %t = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %shape = arith.constant dense<[2, 3]> : tensor<2xindex>
  %r = tensor.reshape %t(%shape) : (tensor<3x2xi32>, tensor<2xindex>) -> tensor<2x3xi32>
  %e = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  check.equal_bits %r, %e : tensor<2x3xi32>
  return
}
