// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --decompose-blocks --interpret-checks -o /dev/null

func.func @test() {
  %x = tensor.empty() : tensor<0x2xf32>
  %t = arith.constant dense<3.0> : tensor<2x4x1xf32>
  %y = kan.grid_encode %x, %t {base_resolution = 2, growth = 1.5}
      : tensor<0x2xf32>, tensor<2x4x1xf32> -> tensor<0x2xf32>
  %g = kan.grid_encode_vjp_tables %y, %x {base_resolution = 2, growth = 1.5}
      : tensor<0x2xf32>, tensor<0x2xf32> -> tensor<2x4x1xf32>
  %zero = arith.constant dense<0.0> : tensor<2x4x1xf32>
  check.equal_bits %g, %zero : tensor<2x4x1xf32>
  return
}
