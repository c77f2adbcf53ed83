// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// The body extends its operands, so it is not a plain multiply-add.
func.func @matmul() {
  %a = arith.constant dense<[[1.5, 2.0]]> : tensor<1x2xbf16>
  %b = arith.constant dense<[[2.0], [0.25]]> : tensor<2x1xbf16>
  %zero = arith.constant dense<0.0> : tensor<1x1xf32>
  %c = linalg.matmul ins(%a, %b : tensor<1x2xbf16>, tensor<2x1xbf16>) outs(%zero : tensor<1x1xf32>) -> tensor<1x1xf32>
  %e = arith.constant dense<3.5> : tensor<1x1xf32>
  check.equal_bits %c, %e : tensor<1x1xf32>
  return
}
