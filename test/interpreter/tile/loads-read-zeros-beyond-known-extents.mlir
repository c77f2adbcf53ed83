// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Where an extent is known only when the kernel runs, a tile has zeros beyond it, and what it has there is not stored.
func.func @main() {
  %two = arith.constant 2 : index
  %x = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %memory = memref.alloc() : memref<3x2xf32>
  tile.store %x, %memory : tensor<3x2xf32>, memref<3x2xf32>
  %part = memref.subview %memory[1, 0] [%two, 2] [1, 1] : memref<3x2xf32> to memref<?x2xf32, strided<[2, 1], offset: 2>>
  %tile = tile.load %part : memref<?x2xf32, strided<[2, 1], offset: 2>> -> tensor<4x2xf32>
  %expected = arith.constant dense<[[3.0, 4.0], [5.0, 6.0], [0.0, 0.0], [0.0, 0.0]]> : tensor<4x2xf32>
  check.equal_bits %tile, %expected : tensor<4x2xf32>

  %nines = arith.constant dense<9.0> : tensor<4x2xf32>
  tile.store %nines, %part : tensor<4x2xf32>, memref<?x2xf32, strided<[2, 1], offset: 2>>
  %all = tile.load %memory : memref<3x2xf32> -> tensor<3x2xf32>
  %stored = arith.constant dense<[[1.0, 2.0], [9.0, 9.0], [9.0, 9.0]]> : tensor<3x2xf32>
  check.equal_bits %all, %stored : tensor<3x2xf32>
  return
}
