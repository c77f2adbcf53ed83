// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// The reduction forgets to fill its output.
func.func @sum() {
  %x = arith.constant dense<1.0> : tensor<4xf32>
  %empty = tensor.empty() : tensor<f32>
  %nan = arith.constant dense<0x7FC00000> : tensor<f32>
  %sum = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
    iterator_types = ["reduction"]
  } ins(%x : tensor<4xf32>) outs(%empty : tensor<f32>) {
  ^bb0(%in: f32, %acc: f32):
    %0 = arith.addf %acc, %in : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  check.close %sum, %nan {equal_nan} : tensor<f32>
  return
}
