// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @slice() {
  %x = arith.constant dense<1.0> : tensor<4xf32>
  %two = arith.constant 2 : index
  // expected-error @+1 {{takes a slice that leaves its tensor: offset 2, size 3, stride 1 in dimension 0 of size 4}}
  %y = tensor.extract_slice %x[%two] [3] [1] : tensor<4xf32> to tensor<3xf32>
  return
}
