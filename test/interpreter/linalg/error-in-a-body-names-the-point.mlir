// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @divide() {
  %x = arith.constant dense<[[1, 1], [1, 0]]> : tensor<2x2xi32>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]
  } outs(%x : tensor<2x2xi32>) {
  ^bb0(%o: i32):
    // expected-error @+1 {{divides an integer by zero at point [1, 1]}}
    %0 = arith.divsi %o, %o : i32
    linalg.yield %0 : i32
  } -> tensor<2x2xi32>
  return
}
