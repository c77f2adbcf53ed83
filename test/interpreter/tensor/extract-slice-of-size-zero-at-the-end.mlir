// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @slice() {
  %t = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %c3 = arith.constant 3 : index
  %c0 = arith.constant 0 : index
  %s = tensor.extract_slice %t[%c3] [%c0] [1] : tensor<3xi32> to tensor<?xi32>
  %e = arith.constant dense<> : tensor<0xi32>
  check.equal_bits %s, %e : tensor<?xi32>, tensor<0xi32>
  return
}
