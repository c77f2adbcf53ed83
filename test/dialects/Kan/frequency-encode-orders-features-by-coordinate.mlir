// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --decompose-blocks --interpret-checks -o /dev/null

// [sin pi x0, cos pi x0, sin 2 pi x0, cos 2 pi x0, then the same for x1].
func.func private @encode(%x: tensor<1x2xf64>) -> tensor<1x8xf64> {
  %y = kan.frequency_encode %x {octaves = 2} : tensor<1x2xf64> -> tensor<1x8xf64>
  return %y : tensor<1x8xf64>
}

func.func @test() {
  %x = arith.constant dense<[[0.25, 0.5]]> : tensor<1x2xf64>
  %y = call @encode(%x) : (tensor<1x2xf64>) -> tensor<1x8xf64>
  %expected = arith.constant dense<[[0.70710678118654752, 0.70710678118654752, 1.0, 0.0, 1.0, 0.0, 0.0, -1.0]]> : tensor<1x8xf64>
  check.close %y, %expected : tensor<1x8xf64>
  return
}
