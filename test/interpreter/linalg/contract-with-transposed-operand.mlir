// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @contract() {
  %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %c = linalg.contract
    indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]
    ins(%a, %b : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  %e = arith.constant dense<[[26.0, 30.0], [38.0, 44.0]]> : tensor<2x2xf32>
  check.equal_bits %c, %e : tensor<2x2xf32>
  return
}
