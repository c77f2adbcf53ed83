// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @reshape() {
  %t = arith.constant dense<[0, 1, 2, 3, 4, 5]> : tensor<6xi32>
  %d = tensor.cast %t : tensor<6xi32> to tensor<?xi32>
  %c3 = arith.constant 3 : index
  %x = tensor.expand_shape %d [[0, 1]] output_shape [%c3, 2] : tensor<?xi32> into tensor<?x2xi32>
  %y = tensor.collapse_shape %x [[0, 1]] : tensor<?x2xi32> into tensor<?xi32>
  %e = arith.constant dense<[[0, 1], [2, 3], [4, 5]]> : tensor<3x2xi32>
  check.equal_bits %x, %e : tensor<?x2xi32>, tensor<3x2xi32>
  check.equal_bits %y, %t : tensor<?xi32>, tensor<6xi32>
  return
}
