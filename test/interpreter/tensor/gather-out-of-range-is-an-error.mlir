// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @gather() {
  %t = arith.constant dense<0> : tensor<3x2xi32>
  %i = arith.constant dense<[[0], [-1]]> : tensor<2x1xindex>
  // expected-error @+1 {{has index -1 in dimension 0 of size 3}}
  %g = tensor.gather %t[%i] gather_dims([0]) : (tensor<3x2xi32>, tensor<2x1xindex>) -> tensor<2x2xi32>
  return
}
