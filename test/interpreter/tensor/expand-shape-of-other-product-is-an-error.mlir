// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @reshape() {
  %t = arith.constant dense<0> : tensor<6xi32>
  %d = tensor.cast %t : tensor<6xi32> to tensor<?xi32>
  %c2 = arith.constant 2 : index
  // expected-error @+1 {{expands dimension 0 of size 6 to sizes of product 4}}
  %x = tensor.expand_shape %d [[0, 1]] output_shape [%c2, 2] : tensor<?xi32> into tensor<?x2xi32>
  return
}
