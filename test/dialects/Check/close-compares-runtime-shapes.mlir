// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @shapes() {
  %c2 = arith.constant 2 : index
  %a = tensor.empty(%c2) : tensor<?xf32>
  %b = arith.constant dense<0.0> : tensor<3xf32>
  // expected-error @+1 {{failed: the actual value has shape [2], the expected one [3]}}
  check.close %a, %b : tensor<?xf32>, tensor<3xf32>
  return
}
