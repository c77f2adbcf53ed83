// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @main() {
  %x = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %d = bufferization.alloc_tensor() : tensor<2xf32>
  %y = bufferization.materialize_in_destination %x in %d : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  check.equal_bits %y, %x : tensor<2xf32>
  return
}
