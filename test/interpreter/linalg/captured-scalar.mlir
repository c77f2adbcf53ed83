// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @capture() {
  %x = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %half = arith.constant 0.5 : f32
  %factor = arith.addf %half, %half : f32
  %r = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]
  } outs(%x : tensor<2xf32>) {
  ^bb0(%o: f32):
    %0 = arith.addf %o, %factor : f32
    linalg.yield %0 : f32
  } -> tensor<2xf32>
  %expected = arith.constant dense<[2.0, 3.0]> : tensor<2xf32>
  check.equal_bits %r, %expected : tensor<2xf32>
  return
}
