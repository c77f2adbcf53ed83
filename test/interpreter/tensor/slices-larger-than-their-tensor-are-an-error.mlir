// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @slice() {
  %x = arith.constant dense<1.0> : tensor<4xf32>
  %five = arith.constant 5 : index
  // expected-error @+1 {{takes a slice that leaves its tensor: offset 0, size 5, stride 1 in dimension 0 of size 4}}
  %y = tensor.extract_slice %x[0] [%five] [1] : tensor<4xf32> to tensor<?xf32>
  return
}
