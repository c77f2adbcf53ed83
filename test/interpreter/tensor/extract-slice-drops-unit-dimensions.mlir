// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @slice() {
  %t = arith.constant dense<[[0, 1, 2], [10, 11, 12]]> : tensor<2x3xi32>
  %row = tensor.extract_slice %t[1, 0] [1, 3] [1, 1] : tensor<2x3xi32> to tensor<3xi32>
  %element = tensor.extract_slice %t[1, 2] [1, 1] [1, 1] : tensor<2x3xi32> to tensor<i32>
  %e0 = arith.constant dense<[10, 11, 12]> : tensor<3xi32>
  %e1 = arith.constant dense<12> : tensor<i32>
  check.equal_bits %row, %e0 : tensor<3xi32>
  check.equal_bits %element, %e1 : tensor<i32>
  return
}
