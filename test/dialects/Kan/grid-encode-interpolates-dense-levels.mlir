// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --decompose-blocks --interpret-checks -o /dev/null

// Resolution 2: 3 x 3 vertices, entry v0 + 3 v1, and entry e holds e. At the
// origin, half a cell from every neighbour, corners 0, 1, 3, 4 weigh 1/4 each;
// at (1/2, 0) the position is (1, 1/2): vertices 1 and 4 weigh 1/2 each.
func.func private @encode(%x: tensor<3x2xf64>, %t: tensor<1x9x1xf64>) -> tensor<3x1xf64> {
  %y = kan.grid_encode %x, %t {base_resolution = 2, growth = 1.0}
      : tensor<3x2xf64>, tensor<1x9x1xf64> -> tensor<3x1xf64>
  return %y : tensor<3x1xf64>
}

func.func @test() {
  %x = arith.constant dense<[[0.0, 0.0], [0.5, 0.0], [1.0, 1.0]]> : tensor<3x2xf64>
  %t = arith.constant dense<[[[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0]]]> : tensor<1x9x1xf64>
  %y = call @encode(%x, %t) : (tensor<3x2xf64>, tensor<1x9x1xf64>) -> tensor<3x1xf64>
  %expected = arith.constant dense<[[2.0], [2.5], [6.0]]> : tensor<3x1xf64>
  check.close %y, %expected : tensor<3x1xf64>
  return
}
