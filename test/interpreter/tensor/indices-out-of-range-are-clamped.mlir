// RUN: drawloom-opt %s --interpret-checks

func.func @element() {
  %t = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %low = arith.constant -7 : index
  %high = arith.constant 3 : index
  %x = tensor.extract %t[%low, %high] : tensor<2x3xf32>
  %y = tensor.insert %x into %t[%high, %low] : tensor<2x3xf32>
  %e = arith.constant dense<[[1.0, 2.0, 3.0], [3.0, 5.0, 6.0]]> : tensor<2x3xf32>
  check.equal_bits %y, %e : tensor<2x3xf32>
  return
}
