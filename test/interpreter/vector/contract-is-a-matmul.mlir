// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @contract() {
  %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : vector<2x2xf32>
  %b = arith.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : vector<2x2xf32>
  %c = arith.constant dense<100.0> : vector<2x2xf32>
  %r = vector.contract {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>
  } %a, %b, %c : vector<2x2xf32>, vector<2x2xf32> into vector<2x2xf32>
  %e:4 = vector.to_elements %r : vector<2x2xf32>
  %t = tensor.from_elements %e#0, %e#1, %e#2, %e#3 : tensor<4xf32>
  %expected = arith.constant dense<[119.0, 122.0, 143.0, 150.0]> : tensor<4xf32>
  check.equal_bits %t, %expected : tensor<4xf32>
  return
}
