// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --decompose-blocks --interpret-checks -o /dev/null

func.func private @encode(%x: tensor<2x2xf32>, %t: tensor<1x4x1xf32>) -> tensor<2x1xf32> {
  %y = kan.grid_encode %x, %t {base_resolution = 2, growth = 1.0}
      : tensor<2x2xf32>, tensor<1x4x1xf32> -> tensor<2x1xf32>
  return %y : tensor<2x1xf32>
}

func.func @test() {
  %x = arith.constant dense<[[0x7FC00000, 0.5], [0.5, 0.5]]> : tensor<2x2xf32>
  %t = arith.constant dense<3.0> : tensor<1x4x1xf32>
  %y = call @encode(%x, %t) : (tensor<2x2xf32>, tensor<1x4x1xf32>) -> tensor<2x1xf32>
  %expected = arith.constant dense<[[0x7FC00000], [3.0]]> : tensor<2x1xf32>
  check.close %y, %expected {equal_nan} : tensor<2x1xf32>
  return
}
