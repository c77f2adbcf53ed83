// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @differ() {
  %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.5]]> : tensor<2x2xf32>
  %b = arith.constant dense<[[1.0, 2.0], [3.5, 4.0]]> : tensor<2x2xf32>
  // expected-error @+1 {{failed at index [1, 0]: actual 3, expected 3.5; 2 of 4 elements differ by more than rtol 1.0000000000000001e-05, atol 9.9999999999999995e-07, at most by 0.5}}
  check.close %a, %b : tensor<2x2xf32>
  return
}
