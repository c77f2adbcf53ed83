// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @slice() {
  %t = arith.constant dense<[[0, 1, 2, 3, 4], [10, 11, 12, 13, 14], [20, 21, 22, 23, 24]]> : tensor<3x5xi32>
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = tensor.extract_slice %t[0, %c1] [%c2, 2] [%c2, 3] : tensor<3x5xi32> to tensor<?x2xi32>
  %e = arith.constant dense<[[1, 4], [21, 24]]> : tensor<2x2xi32>
  check.equal_bits %s, %e : tensor<?x2xi32>, tensor<2x2xi32>
  return
}
