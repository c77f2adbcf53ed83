// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --decompose-blocks --interpret-checks -o /dev/null

// Entry v0 + 3 v1 holds its number: slope scale * 1 along coordinate 0 and
// scale * 3 along coordinate 1, with scale = 2 - 1 = 1. Zero outside.
func.func private @slope(%g: tensor<2x1xf64>, %x: tensor<2x2xf64>, %t: tensor<1x9x1xf64>) -> tensor<2x2xf64> {
  %dx = kan.grid_encode_vjp_coordinates %g, %x, %t {base_resolution = 2, growth = 1.0}
      : tensor<2x1xf64>, tensor<2x2xf64>, tensor<1x9x1xf64>
  return %dx : tensor<2x2xf64>
}

func.func @test() {
  %x = arith.constant dense<[[0.3, 0.7], [-0.1, 0.2]]> : tensor<2x2xf64>
  %t = arith.constant dense<[[[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0]]]> : tensor<1x9x1xf64>
  %g = arith.constant dense<[[2.0], [1.0]]> : tensor<2x1xf64>
  %dx = call @slope(%g, %x, %t) : (tensor<2x1xf64>, tensor<2x2xf64>, tensor<1x9x1xf64>) -> tensor<2x2xf64>
  %expected = arith.constant dense<[[2.0, 6.0], [0.0, 3.0]]> : tensor<2x2xf64>
  check.close %dx, %expected : tensor<2x2xf64>
  return
}
