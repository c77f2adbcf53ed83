// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @batch() {
  %a = arith.constant dense<[[[1.0, 2.0]], [[3.0, 4.0]]]> : tensor<2x1x2xf32>
  %b = arith.constant dense<[[[1.0], [1.0]], [[2.0], [0.5]]]> : tensor<2x2x1xf32>
  %zero = arith.constant dense<0.0> : tensor<2x1x1xf32>
  %c = linalg.batch_matmul ins(%a, %b : tensor<2x1x2xf32>, tensor<2x2x1xf32>) outs(%zero : tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %e = arith.constant dense<[[[3.0]], [[8.0]]]> : tensor<2x1x1xf32>
  check.equal_bits %c, %e : tensor<2x1x1xf32>
  return
}
