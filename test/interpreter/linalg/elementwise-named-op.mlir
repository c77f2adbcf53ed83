// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @elementwise() {
  %x = arith.constant dense<[0.0, 1.0]> : tensor<2xf64>
  %e = tensor.empty() : tensor<2xf64>
  %y = linalg.exp ins(%x : tensor<2xf64>) outs(%e : tensor<2xf64>) -> tensor<2xf64>
  %expected = arith.constant dense<[1.0, 2.718281828459045]> : tensor<2xf64>
  check.close %y, %expected : tensor<2xf64>
  return
}
