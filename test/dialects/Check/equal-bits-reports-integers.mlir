// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @integers() {
  %a = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  %b = arith.constant dense<[[1, 2], [-3, 5]]> : tensor<2x2xi8>
  // expected-error @+1 {{failed at index [1, 0]: actual 3, expected -3; 2 of 4 elements differ}}
  check.equal_bits %a, %b : tensor<2x2xi8>
  return
}
