// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @empty() {
  %a = arith.constant dense<> : tensor<0x2xf32>
  %b = arith.constant dense<1.0> : tensor<2x3xf32>
  %init = arith.constant dense<> : tensor<0x3xf32>
  %c = linalg.matmul ins(%a, %b : tensor<0x2xf32>, tensor<2x3xf32>) outs(%init : tensor<0x3xf32>) -> tensor<0x3xf32>
  check.equal_bits %c, %init : tensor<0x3xf32>
  return
}
