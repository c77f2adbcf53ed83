// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @empty() {
  %a = arith.constant dense<> : tensor<0x3xf32>
  %b = arith.addf %a, %a : tensor<0x3xf32>
  check.equal_bits %b, %a : tensor<0x3xf32>
  return
}
