// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @gather() {
  %t = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %i = arith.constant dense<[[2], [0], [2]]> : tensor<3x1xindex>
  %g = tensor.gather %t[%i] gather_dims([0]) : (tensor<3x2xi32>, tensor<3x1xindex>) -> tensor<3x2xi32>
  %h = tensor.gather %t[%i] gather_dims([0]) : (tensor<3x2xi32>, tensor<3x1xindex>) -> tensor<3x1x2xi32>
  %e0 = arith.constant dense<[[5, 6], [1, 2], [5, 6]]> : tensor<3x2xi32>
  %e1 = arith.constant dense<[[[5, 6]], [[1, 2]], [[5, 6]]]> : tensor<3x1x2xi32>
  check.equal_bits %g, %e0 : tensor<3x2xi32>
  check.equal_bits %h, %e1 : tensor<3x1x2xi32>
  return
}
