// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --decompose-blocks --interpret-checks -o /dev/null

// The corners of the origin's cell in a grid of 3 x 3 vertices, twice, with
// gradients 1 and 3; tables of a half type are summed in f32.
func.func private @f64(%g: tensor<2x1xf64>, %x: tensor<2x2xf64>) -> tensor<1x9x1xf64> {
  %t = kan.grid_encode_vjp_tables %g, %x {base_resolution = 2, growth = 1.0}
      : tensor<2x1xf64>, tensor<2x2xf64> -> tensor<1x9x1xf64>
  return %t : tensor<1x9x1xf64>
}

func.func private @bf16(%g: tensor<2x1xbf16>, %x: tensor<2x2xf32>) -> tensor<1x9x1xbf16> {
  %t = kan.grid_encode_vjp_tables %g, %x {base_resolution = 2, growth = 1.0}
      : tensor<2x1xbf16>, tensor<2x2xf32> -> tensor<1x9x1xbf16>
  return %t : tensor<1x9x1xbf16>
}

func.func @test() {
  %x = arith.constant dense<0.0> : tensor<2x2xf64>
  %g = arith.constant dense<[[1.0], [3.0]]> : tensor<2x1xf64>
  %t = call @f64(%g, %x) : (tensor<2x1xf64>, tensor<2x2xf64>) -> tensor<1x9x1xf64>
  %expected = arith.constant dense<[[[1.0], [1.0], [0.0], [1.0], [1.0], [0.0], [0.0], [0.0], [0.0]]]> : tensor<1x9x1xf64>
  check.close %t, %expected : tensor<1x9x1xf64>
  %x32 = arith.constant dense<0.0> : tensor<2x2xf32>
  %h = arith.constant dense<[[1.0], [3.0]]> : tensor<2x1xbf16>
  %u = call @bf16(%h, %x32) : (tensor<2x1xbf16>, tensor<2x2xf32>) -> tensor<1x9x1xbf16>
  %narrow = arith.constant dense<[[[1.0], [1.0], [0.0], [1.0], [1.0], [0.0], [0.0], [0.0], [0.0]]]> : tensor<1x9x1xbf16>
  check.close %u, %narrow : tensor<1x9x1xbf16>
  return
}
