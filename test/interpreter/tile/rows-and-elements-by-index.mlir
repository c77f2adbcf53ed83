// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @main() {
  %x = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %memory = memref.alloc() : memref<3x2xf32>
  tile.store %x, %memory : tensor<3x2xf32>, memref<3x2xf32>
  %rows = arith.constant dense<[2, -1]> : tensor<2xi32>
  %gathered = tile.gather %memory[%rows] : memref<3x2xf32>[tensor<2xi32>] -> tensor<2x2xf32>
  %expected = arith.constant dense<[[5.0, 6.0], [0.0, 0.0]]> : tensor<2x2xf32>
  check.equal_bits %gathered, %expected : tensor<2x2xf32>

  %i = arith.constant dense<[0, 2]> : tensor<2xindex>
  %j = arith.constant dense<[1, 0]> : tensor<2xindex>
  %found = tile.lookup %memory[%i, %j] : memref<3x2xf32>[tensor<2xindex>, tensor<2xindex>] -> tensor<2xf32>
  %elements = arith.constant dense<[2.0, 5.0]> : tensor<2xf32>
  check.equal_bits %found, %elements : tensor<2xf32>

  %nines = arith.constant dense<9.0> : tensor<2x2xf32>
  tile.scatter %nines, %memory[%rows] : tensor<2x2xf32>, memref<3x2xf32>[tensor<2xi32>]
  %all = tile.load %memory : memref<3x2xf32> -> tensor<3x2xf32>
  %scattered = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [9.0, 9.0]]> : tensor<3x2xf32>
  check.equal_bits %all, %scattered : tensor<3x2xf32>
  return
}
