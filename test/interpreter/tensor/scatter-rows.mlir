// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @scatter() {
  %t = arith.constant dense<0> : tensor<3x2xi32>
  %s = arith.constant dense<[[[1, 2]], [[3, 4]]]> : tensor<2x1x2xi32>
  %i = arith.constant dense<[[2], [0]]> : tensor<2x1xindex>
  %r = tensor.scatter %s into %t[%i] scatter_dims([0]) unique
    : (tensor<2x1x2xi32>, tensor<3x2xi32>, tensor<2x1xindex>) -> tensor<3x2xi32>
  %e = arith.constant dense<[[3, 4], [0, 0], [1, 2]]> : tensor<3x2xi32>
  check.equal_bits %r, %e : tensor<3x2xi32>
  return
}
