// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --decompose-blocks --interpret-checks -o /dev/null

func.func private @encode(%x: tensor<4x2xf32>, %t: tensor<1x9x1xf32>) -> tensor<4x1xf32> {
  %y = kan.grid_encode %x, %t {base_resolution = 2, growth = 1.0}
      : tensor<4x2xf32>, tensor<1x9x1xf32> -> tensor<4x1xf32>
  return %y : tensor<4x1xf32>
}

func.func @test() {
  %x = arith.constant dense<[[-3.0, 0.5], [0.0, 0.5], [0x7F800000, 0xFF800000], [1.0, 0.0]]> : tensor<4x2xf32>
  %t = arith.constant dense<[[[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0]]]> : tensor<1x9x1xf32>
  %y = call @encode(%x, %t) : (tensor<4x2xf32>, tensor<1x9x1xf32>) -> tensor<4x1xf32>
  %outside = tensor.extract_slice %y[0, 0] [2, 1] [2, 1] : tensor<4x1xf32> to tensor<2x1xf32>
  %border = tensor.extract_slice %y[1, 0] [2, 1] [2, 1] : tensor<4x1xf32> to tensor<2x1xf32>
  check.equal_bits %outside, %border : tensor<2x1xf32>
  return
}
