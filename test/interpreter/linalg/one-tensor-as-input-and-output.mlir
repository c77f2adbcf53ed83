// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @square() {
  %one = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %c = linalg.matmul ins(%one, %one : tensor<2x2xf32>, tensor<2x2xf32>) outs(%one : tensor<2x2xf32>) -> tensor<2x2xf32>
  %e = arith.constant dense<[[8.0, 12.0], [18.0, 26.0]]> : tensor<2x2xf32>
  check.equal_bits %c, %e : tensor<2x2xf32>
  return
}
