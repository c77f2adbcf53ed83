// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @slice() {
  %t = arith.constant dense<0> : tensor<2x3xi32>
  %s = arith.constant dense<[1, 2]> : tensor<2xi32>
  %r = tensor.insert_slice %s into %t[0, 1] [2, 1] [1, 1] : tensor<2xi32> into tensor<2x3xi32>
  %e = arith.constant dense<[[0, 1, 0], [0, 2, 0]]> : tensor<2x3xi32>
  check.equal_bits %r, %e : tensor<2x3xi32>
  return
}
