// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @named() {
  %x = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %e32 = tensor.empty() : tensor<3x2xf32>
  %t = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%e32 : tensor<3x2xf32>) permutation = [1, 0]
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<2x3xf32>) outs(%zero : tensor<2xf32>) dimensions = [1]
  %e23 = tensor.empty() : tensor<2x3xf32>
  %b = linalg.broadcast ins(%s : tensor<2xf32>) outs(%e23 : tensor<2x3xf32>) dimensions = [1]
  %m = linalg.map { arith.addf } ins(%x, %b : tensor<2x3xf32>, tensor<2x3xf32>) outs(%e23 : tensor<2x3xf32>)
  %et = arith.constant dense<[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]> : tensor<3x2xf32>
  %es = arith.constant dense<[6.0, 15.0]> : tensor<2xf32>
  %em = arith.constant dense<[[7.0, 8.0, 9.0], [19.0, 20.0, 21.0]]> : tensor<2x3xf32>
  check.equal_bits %t, %et : tensor<3x2xf32>
  check.equal_bits %s, %es : tensor<2xf32>
  check.equal_bits %m, %em : tensor<2x3xf32>
  return
}
