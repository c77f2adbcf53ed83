// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --decompose-blocks --interpret-checks -o /dev/null

// 7 entries, not a power of two. Vertex (2, 1, 1) alone counts:
// (2 xor 2654435761 xor 805459861) mod 2^32 mod 7 = 5.
func.func private @encode(%x: tensor<1x3xf64>, %t: tensor<1x7x1xf64>) -> tensor<1x1xf64> {
  %y = kan.grid_encode %x, %t {base_resolution = 3, growth = 1.0}
      : tensor<1x3xf64>, tensor<1x7x1xf64> -> tensor<1x1xf64>
  return %y : tensor<1x1xf64>
}

func.func @test() {
  %x = arith.constant dense<[[0.75, 0.25, 0.25]]> : tensor<1x3xf64>
  %t = arith.constant dense<[[[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]]> : tensor<1x7x1xf64>
  %y = call @encode(%x, %t) : (tensor<1x3xf64>, tensor<1x7x1xf64>) -> tensor<1x1xf64>
  %expected = arith.constant dense<5.0> : tensor<1x1xf64>
  check.close %y, %expected : tensor<1x1xf64>
  return
}
