// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @empty() {
  %a = arith.constant dense<> : tensor<2x0xf32>
  %start = arith.constant dense<[7.0, 8.0]> : tensor<2xf32>
  %s = linalg.reduce { arith.addf } ins(%a : tensor<2x0xf32>) outs(%start : tensor<2xf32>) dimensions = [1]
  check.equal_bits %s, %start : tensor<2xf32>
  return
}
