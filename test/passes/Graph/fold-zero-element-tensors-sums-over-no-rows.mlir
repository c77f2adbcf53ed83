// RUN: drawloom-opt %s --fold-zero-element-tensors --verify-semantics | FileCheck %s

// CHECK-LABEL: func.func @sum
// CHECK-SAME: %[[X:.*]]: tensor<0x4xf32>, %[[INIT:.*]]: tensor<4xf32>
// CHECK-NEXT: return %[[INIT]]
func.func @sum(%x: tensor<0x4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<0x4xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @map
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<0x4xf32>
// CHECK-NEXT: return %[[E]]
func.func @map(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %0 = math.exp %x : tensor<0x4xf32>
  return %0 : tensor<0x4xf32>
}
