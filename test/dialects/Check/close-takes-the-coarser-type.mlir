// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @mixed() {
  %a = arith.constant dense<1.01> : tensor<2xf64>
  %b = arith.constant dense<1.0> : tensor<2xbf16>
  check.close %a, %b : tensor<2xf64>, tensor<2xbf16>
  return
}
