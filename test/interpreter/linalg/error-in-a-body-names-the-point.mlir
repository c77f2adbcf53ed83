// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @power() {
  %x = arith.constant dense<[[1, 1], [1, 0]]> : tensor<2x2xi32>
  %p = arith.constant -1 : i32
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]
  } outs(%x : tensor<2x2xi32>) {
  ^bb0(%o: i32):
    // expected-error @+1 {{raises zero to a negative power at point [1, 1]}}
    %0 = math.ipowi %o, %p : i32
    linalg.yield %0 : i32
  } -> tensor<2x2xi32>
  return
}
