// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @element() {
  %t = arith.constant dense<1.0> : tensor<2x3xf32>
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  // expected-error @+1 {{has index 3 in dimension 1 of size 3}}
  %x = tensor.extract %t[%c0, %c3] : tensor<2x3xf32>
  return
}
