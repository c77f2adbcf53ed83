// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @main() {
  %values = arith.constant dense<[[2.0, 9.0], [1.0, 4.0]]> : tensor<2x2xf32>
  %matrix = tile.alloc : memref<2x2xf32, 3>
  tile.store %values, %matrix : tensor<2x2xf32>, memref<2x2xf32, 3>
  %rhs = arith.constant dense<[[4.0], [10.0]]> : tensor<2x1xf32>
  %x = tile.solve %matrix, %rhs : memref<2x2xf32, 3>, tensor<2x1xf32>
  %forward = arith.constant dense<[[2.0], [2.0]]> : tensor<2x1xf32>
  check.equal_bits %x, %forward : tensor<2x1xf32>
  // What stands on the other side of the diagonal is not read.
  %y = tile.solve reverse transpose unit %matrix, %rhs : memref<2x2xf32, 3>, tensor<2x1xf32>
  %backward = arith.constant dense<[[-6.0], [10.0]]> : tensor<2x1xf32>
  check.equal_bits %y, %backward : tensor<2x1xf32>
  return
}
