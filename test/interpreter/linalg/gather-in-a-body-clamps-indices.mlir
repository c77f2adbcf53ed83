// RUN: drawloom-opt %s --interpret-checks

func.func @gather() {
  %table = arith.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
  %indices = arith.constant dense<[2, -1, 3]> : tensor<3xindex>
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]
  } ins(%indices : tensor<3xindex>) outs(%e : tensor<3xf32>) {
  ^bb0(%i: index, %o: f32):
    %x = tensor.extract %table[%i] : tensor<3xf32>
    linalg.yield %x : f32
  } -> tensor<3xf32>
  %expected = arith.constant dense<[30.0, 10.0, 30.0]> : tensor<3xf32>
  check.equal_bits %r, %expected : tensor<3xf32>
  return
}
