// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @minmax() {
  %x = arith.constant dense<[[3.0, -1.0], [2.0, 5.0]]> : tensor<2x2xf32>
  %low = arith.constant dense<0x7F800000> : tensor<2xf32>
  %high = arith.constant dense<0xFF800000> : tensor<f32>
  %r:2 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> ()>],
    iterator_types = ["reduction", "reduction"]
  } ins(%x : tensor<2x2xf32>) outs(%low, %high : tensor<2xf32>, tensor<f32>) {
  ^bb0(%in: f32, %l: f32, %h: f32):
    %0 = arith.minimumf %in, %l : f32
    %1 = arith.maximumf %in, %h : f32
    linalg.yield %0, %1 : f32, f32
  } -> (tensor<2xf32>, tensor<f32>)
  %e0 = arith.constant dense<[-1.0, 2.0]> : tensor<2xf32>
  %e1 = arith.constant dense<5.0> : tensor<f32>
  check.equal_bits %r#0, %e0 : tensor<2xf32>
  check.equal_bits %r#1, %e1 : tensor<f32>
  return
}
