// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @slice() {
  %t = arith.constant dense<0> : tensor<2x5xi32>
  %s = arith.constant dense<[[1, 2]]> : tensor<1x2xi32>
  %c2 = arith.constant 2 : index
  %r = tensor.insert_slice %s into %t[1, 1] [1, 2] [1, %c2] : tensor<1x2xi32> into tensor<2x5xi32>
  %e = arith.constant dense<[[0, 0, 0, 0, 0], [0, 1, 0, 2, 0]]> : tensor<2x5xi32>
  check.equal_bits %r, %e : tensor<2x5xi32>
  return
}
