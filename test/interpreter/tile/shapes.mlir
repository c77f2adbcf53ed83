// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @main() {
  %x = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %transposed = tile.broadcast %x along [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  %columns = arith.constant dense<[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]> : tensor<3x2xf32>
  check.equal_bits %transposed, %columns : tensor<3x2xf32>
  %row = tile.slice %x at 2 along 1 : tensor<2x3xf32> -> tensor<2xf32>
  %last = arith.constant dense<[3.0, 6.0]> : tensor<2xf32>
  check.equal_bits %row, %last : tensor<2xf32>
  %reshaped = tile.reshape %x : tensor<2x3xf32> -> tensor<3x2xf32>
  %pairs = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  check.equal_bits %reshaped, %pairs : tensor<3x2xf32>
  %numbers = tile.iota along 1 : tensor<2x3xindex>
  %counted = arith.constant dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xindex>
  check.equal_bits %numbers, %counted : tensor<2x3xindex>
  %seven = arith.constant 7.0 : f32
  %sevens = tile.splat %seven : f32 -> tensor<2xf32>
  %expected = arith.constant dense<7.0> : tensor<2xf32>
  check.equal_bits %sevens, %expected : tensor<2xf32>
  %same = tile.convert %sevens : tensor<2xf32> -> tensor<2xf32>
  check.equal_bits %same, %expected : tensor<2xf32>
  return
}
