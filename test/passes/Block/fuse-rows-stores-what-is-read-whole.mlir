// RUN: drawloom-opt %s --fuse-rows --verify-semantics | FileCheck %s

// An op that takes a row value as a whole gets it from memory, after the blocks.
// CHECK: %[[Y:.*]] = scf.forall
// CHECK: tensor.pad %[[Y]]
#ij = affine_map<(i, j) -> (i, j)>
func.func @padded(%x: tensor<128x32xf32>) -> tensor<130x32xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x32xf32>
  %y = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<128x32xf32>) outs(%e : tensor<128x32xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<128x32xf32>
  %p = tensor.pad %y low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<128x32xf32> to tensor<130x32xf32>
  return %p : tensor<130x32xf32>
}
