// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @matmul() {
  %a = arith.constant dense<[[1.0, 2.0]]> : tensor<1x2xf64>
  %b = arith.constant dense<[[5.0], [7.0]]> : tensor<2x1xf64>
  %init = arith.constant dense<100.0> : tensor<1x1xf64>
  %expected = arith.constant dense<119.0> : tensor<1x1xf64>
  %c = linalg.matmul ins(%a, %b : tensor<1x2xf64>, tensor<2x1xf64>)
                     outs(%init : tensor<1x1xf64>) -> tensor<1x1xf64>
  check.equal_bits %c, %expected : tensor<1x1xf64>
  return
}
