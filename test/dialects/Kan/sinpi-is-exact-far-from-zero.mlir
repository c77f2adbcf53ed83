// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --decompose-blocks --interpret-checks -o /dev/null

// pi * 1e15 is not representable; the reduced argument is.
func.func private @sines(%x: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
  %s = kan.sinpi %x : tensor<4xf64>
  %c = kan.cospi %x : tensor<4xf64>
  return %s, %c : tensor<4xf64>, tensor<4xf64>
}

func.func @test() {
  %x = arith.constant dense<[1.0e15, 1000000000000000.5, -0.5, 1.25]> : tensor<4xf64>
  %s, %c = call @sines(%x) : (tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>)
  %sines = arith.constant dense<[0.0, 1.0, -1.0, -0.70710678118654752]> : tensor<4xf64>
  %cosines = arith.constant dense<[1.0, 0.0, 0.0, -0.70710678118654752]> : tensor<4xf64>
  check.close %s, %sines : tensor<4xf64>
  check.close %c, %cosines : tensor<4xf64>
  return
}
