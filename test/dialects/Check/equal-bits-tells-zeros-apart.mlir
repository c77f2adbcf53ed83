// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @zeros() {
  %a = arith.constant dense<[0.0, 0.0]> : tensor<2xf32>
  %b = arith.constant dense<[0.0, -0.0]> : tensor<2xf32>
  // expected-error @+1 {{failed at index [1]: actual 0, expected -0; 1 of 2 elements differ}}
  check.equal_bits %a, %b : tensor<2xf32>
  return
}
