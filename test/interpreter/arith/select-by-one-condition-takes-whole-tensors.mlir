// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @select() {
  %false = arith.constant false
  %mask = arith.constant dense<[true, false]> : tensor<2xi1>
  %a = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = arith.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %whole = arith.select %false, %a, %b : tensor<2xf32>
  %each = arith.select %mask, %a, %b : tensor<2xi1>, tensor<2xf32>
  %e = arith.constant dense<[1.0, 4.0]> : tensor<2xf32>
  check.equal_bits %whole, %b : tensor<2xf32>
  check.equal_bits %each, %e : tensor<2xf32>
  return
}
