// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @softmax() {
  // Large values: the maximum must be taken off first.
  %x = arith.constant dense<[[1000.0, 1000.0], [0.0, 1.0]]> : tensor<2x2xf64>
  %e = tensor.empty() : tensor<2x2xf64>
  %y = linalg.softmax dimension(1) ins(%x : tensor<2x2xf64>) outs(%e : tensor<2x2xf64>) -> tensor<2x2xf64>
  %expected = arith.constant dense<[[0.5, 0.5], [0.2689414213699951, 0.7310585786300049]]> : tensor<2x2xf64>
  check.close %y, %expected : tensor<2x2xf64>
  return
}
