// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @cast() {
  %c3 = arith.constant 3 : index
  %t = tensor.empty(%c3) : tensor<?xf32>
  // expected-error @+1 {{operand must be of type 'tensor<4xf32>', but has shape [3]}}
  %u = tensor.cast %t : tensor<?xf32> to tensor<4xf32>
  return
}
