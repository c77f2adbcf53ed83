// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @slice() {
  %t = arith.constant dense<0> : tensor<8xi32>
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = tensor.empty(%c2) : tensor<?xi32>
  // expected-error @+1 {{inserts a value of shape [2] into a slice of shape [3]}}
  %r = tensor.insert_slice %s into %t[0] [%c3] [1] : tensor<?xi32> into tensor<8xi32>
  return
}
