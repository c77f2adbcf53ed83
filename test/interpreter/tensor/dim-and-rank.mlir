// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @dims() {
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %t = tensor.empty(%c4) : tensor<3x?xf32>
  %d = tensor.dim %t, %c1 : tensor<3x?xf32>
  %r = tensor.rank %t : tensor<3x?xf32>
  %c2 = arith.constant 2 : index
  check.equal_bits %d, %c4 : index
  check.equal_bits %r, %c2 : index
  return
}
