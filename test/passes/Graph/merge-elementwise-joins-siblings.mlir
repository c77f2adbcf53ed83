// RUN: drawloom-opt %s --split-input-file --merge-elementwise --cse --verify-semantics | FileCheck %s
// RUN: drawloom-opt %s --split-input-file --merge-elementwise --verify-semantics -o /dev/null

// An activation and its derivative read the same and share a term.
// CHECK-LABEL: func.func @activation_and_gradient
// CHECK: %[[BOTH:.*]]:2 = linalg.generic
// CHECK-COUNT-1: math.exp
// CHECK-NOT: math.exp
// CHECK-NOT: linalg.generic
// CHECK: %[[Y:.*]] = tensor.collapse_shape %[[BOTH]]#1
// CHECK: return %[[Y]], %[[BOTH]]#0
func.func @activation_and_gradient(%x: tensor<4x8xf32>, %dy: tensor<4x8xf32>) -> (tensor<32xf32>, tensor<4x8xf32>) {
  %empty = tensor.empty() : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %e = math.exp %in : f32
    linalg.yield %e : f32
  } -> tensor<4x8xf32>
  %flat = tensor.collapse_shape %y [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  %dx = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %dy : tensor<4x8xf32>, tensor<4x8xf32>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%in: f32, %d: f32, %out: f32):
    %e = math.exp %in : f32
    %m = arith.mulf %e, %d : f32
    linalg.yield %m : f32
  } -> tensor<4x8xf32>
  return %flat, %dx : tensor<32xf32>, tensor<4x8xf32>
}

// -----

// The second needs what the first makes, through an op that is not elementwise.
// CHECK-LABEL: func.func @chain
// CHECK: linalg.generic
// CHECK: linalg.transpose
// CHECK: linalg.generic
func.func @chain(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %empty = tensor.empty() : tensor<8x8xf32>
  %e = math.exp %x : tensor<8x8xf32>
  %t = linalg.transpose ins(%e : tensor<8x8xf32>) outs(%empty : tensor<8x8xf32>) permutation = [1, 0]
  %y = arith.mulf %x, %t : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// -----

// Reading one more tensor along the way is no gain by itself.
// CHECK-LABEL: func.func @other_data
// CHECK-COUNT-2: linalg.generic
func.func @other_data(%x: tensor<8xf32>, %z: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = math.exp %x : tensor<8xf32>
  %b = math.exp %z : tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// -----

// A mask has no vector form in memory, and would take the other op with it.
// CHECK-LABEL: func.func @mask
// CHECK-COUNT-2: linalg.generic
func.func @mask(%x: tensor<8xf32>) -> (tensor<8xi1>, tensor<8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %m = arith.cmpf ogt, %x, %zero : tensor<8xf32>
  %e = math.exp %x : tensor<8xf32>
  return %m, %e : tensor<8xi1>, tensor<8xf32>
}

// -----

// Extents that are not known are the same where both read one tensor whole.
// CHECK-LABEL: func.func @open
// CHECK: %[[BOTH:.*]]:2 = linalg.generic
// CHECK: return %[[BOTH]]#1, %[[BOTH]]#0
func.func @open(%x: tensor<?x8xf32> {check.shape = array<i64: 3, 8>}, %s: tensor<f32>) -> (tensor<?x8xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
  %empty = tensor.empty(%rows) : tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x8xf32>) outs(%empty : tensor<?x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %e = math.exp %in : f32
    linalg.yield %e : f32
  } -> tensor<?x8xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<?x8xf32>) outs(%s : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %e = math.exp %in : f32
    %m = arith.addf %e, %out : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  return %y, %sum : tensor<?x8xf32>, tensor<f32>
}
