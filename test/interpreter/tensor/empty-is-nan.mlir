// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @empty() {
  %t = tensor.empty() : tensor<2xf32>
  %nan = arith.constant dense<0x7FC00000> : tensor<2xf32>
  check.equal_bits %t, %nan : tensor<2xf32>
  return
}
