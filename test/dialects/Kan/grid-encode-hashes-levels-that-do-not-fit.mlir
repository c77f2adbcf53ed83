// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --decompose-blocks --interpret-checks -o /dev/null

// 3 x 3 vertices do not fit 8 entries. At (1/2, 1/2) the position is (1, 1), so
// that vertex (1, 1) alone counts: entry (1 xor 2654435761) mod 8 = 0. At (1/2, 0)
// vertices (1, 0) and (1, 1) weigh 1/2 each: entries 1 and 0.
func.func private @encode(%x: tensor<2x2xf32>, %t: tensor<1x8x2xf32>) -> tensor<2x2xf32> {
  %y = kan.grid_encode %x, %t {base_resolution = 2, growth = 1.0}
      : tensor<2x2xf32>, tensor<1x8x2xf32> -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

func.func @test() {
  %x = arith.constant dense<[[0.5, 0.5], [0.5, 0.0]]> : tensor<2x2xf32>
  %t = arith.constant dense<[[[10.0, 1.0], [20.0, 2.0], [0.0, 0.0], [0.0, 0.0],
                              [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]]> : tensor<1x8x2xf32>
  %y = call @encode(%x, %t) : (tensor<2x2xf32>, tensor<1x8x2xf32>) -> tensor<2x2xf32>
  %expected = arith.constant dense<[[10.0, 1.0], [15.0, 1.5]]> : tensor<2x2xf32>
  check.close %y, %expected : tensor<2x2xf32>
  return
}
