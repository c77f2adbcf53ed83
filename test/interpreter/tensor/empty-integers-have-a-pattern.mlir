// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @empty() {
  %t = tensor.empty() : tensor<2xi32>
  %pattern = arith.constant dense<0xDEADBEEF> : tensor<2xi32>
  check.equal_bits %t, %pattern : tensor<2xi32>
  return
}
