// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

// 12 channels: 6 numerator groups of 2, 2 denominator groups of 6.
func.func private @apply(%x: tensor<1x12xf64>, %a: tensor<6x2xf64>, %b: tensor<2x1xf64>) -> tensor<1x12xf64> {
  %y = kan.rational %x, %a, %b form(abs_terms) : tensor<1x12xf64>, tensor<6x2xf64>, tensor<2x1xf64>
  return %y : tensor<1x12xf64>
}

func.func @test() {
  %x = arith.constant dense<[[-1.25, -1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5]]> : tensor<1x12xf64>
  %a = arith.constant dense<[[0.1, 1.0], [0.2, -1.0], [0.3, 2.0], [0.4, 0.5], [0.0, 0.0], [1.0, 0.0]]> : tensor<6x2xf64>
  %b = arith.constant dense<[[0.5], [0.25]]> : tensor<2x1xf64>
  %y = call @apply(%x, %a, %b) : (tensor<1x12xf64>, tensor<6x2xf64>, tensor<2x1xf64>) -> tensor<1x12xf64>
  %expected = arith.constant dense<[[-0.7076923076923076, -0.6, 0.6909090909090909, 0.5599999999999999, -0.17777777777777778, 0.3, 0.49411764705882355, 0.5777777777777778, 0.0, 0.0, 0.7619047619047619, 0.7272727272727273]]> : tensor<1x12xf64>
  check.close %y, %expected : tensor<1x12xf64>
  return
}
