// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @matmul() {
  %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %expected = arith.constant dense<[[19.0, 22.0], [43.0, 50.0]]> : tensor<2x2xf32>
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %c = linalg.matmul ins(%a, %b : tensor<2x2xf32>, tensor<2x2xf32>)
                     outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  check.close %c, %expected : tensor<2x2xf32>
  return
}
