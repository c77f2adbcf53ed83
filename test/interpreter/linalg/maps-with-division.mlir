// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Each element of the input serves a group of two outputs.
func.func @groups() {
  %c = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %zero = arith.constant dense<0.0> : tensor<6xf32>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i floordiv 2)>, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]
  } ins(%c : tensor<3xf32>) outs(%zero : tensor<6xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<6xf32>
  %e = arith.constant dense<[1.0, 1.0, 2.0, 2.0, 3.0, 3.0]> : tensor<6xf32>
  check.equal_bits %r, %e : tensor<6xf32>
  return
}
