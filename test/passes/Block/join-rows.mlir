// RUN: drawloom-opt %s --join-rows --canonicalize --cse --verify-semantics | FileCheck %s

// Sequences and tokens lie one behind the other: what treats all tokens alike
// counts them in one go, and heads apart and together stay what they are.
// CHECK-LABEL: func.func @all
// CHECK-SAME: %[[X:.*]]: tensor<?x?x4xf32>
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2]] {drawloom.joined_rows = 0 : i64} : tensor<?x?x4xf32> into tensor<?x4xf32>
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%[[ROWS]] : tensor<?x4xf32>)
// CHECK-DAG: %[[HEADS:.*]] = tensor.expand_shape %[[Y]] {{\[\[}}0], [1, 2]] output_shape [%{{.*}}, 2, 2] : tensor<?x4xf32> into tensor<?x2x2xf32>
// CHECK-DAG: tensor.expand_shape %[[Y]] {{\[\[}}0, 1], [2]] output_shape [%{{.*}}, %{{.*}}, 4] {drawloom.joined_rows = 0 : i64} : tensor<?x4xf32> into tensor<?x?x4xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel", "parallel"]} ins(%[[HEADS]] : tensor<?x2x2xf32>) outs(%{{.*}} : tensor<2x2xf32>)
func.func @all(%x: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<2x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x4xf32>
  %t = tensor.dim %x, %c1 : tensor<?x?x4xf32>
  %e = tensor.empty(%b, %t) : tensor<?x?x4xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%x : tensor<?x?x4xf32>) outs(%e : tensor<?x?x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.tanh %a : f32
    linalg.yield %v : f32
  } -> tensor<?x?x4xf32>
  %h = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [%b, %t, 2, 2] : tensor<?x?x4xf32> into tensor<?x?x2x2xf32>
  %z = arith.constant dense<0.0> : tensor<2x2xf32>
  %s = linalg.generic {
    indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (k, l)>],
    iterator_types = ["reduction", "reduction", "parallel", "parallel"]
  } ins(%h : tensor<?x?x2x2xf32>) outs(%z : tensor<2x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %a, %o : f32
    linalg.yield %v : f32
  } -> tensor<2x2xf32>
  return %y, %s : tensor<?x?x4xf32>, tensor<2x2xf32>
}

// Known numbers of one call are joined as well.
// CHECK-LABEL: func.func @given
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<15x4xf32>)
func.func @given(%x: tensor<3x5x4xf32> {drawloom.given_dims = array<i64: 0, 1>}) -> tensor<3x5x4xf32> {
  %e = tensor.empty() : tensor<3x5x4xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%x : tensor<3x5x4xf32>) outs(%e : tensor<3x5x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.tanh %a : f32
    linalg.yield %v : f32
  } -> tensor<3x5x4xf32>
  return %y : tensor<3x5x4xf32>
}

// Nothing is joined where an op treats sequences and tokens differently.
// CHECK-LABEL: func.func @mean_of_tokens
// CHECK-NOT: collapse_shape
func.func @mean_of_tokens(%x: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x4xf32>
  %t = tensor.dim %x, %c1 : tensor<?x?x4xf32>
  %e = tensor.empty(%b, %t) : tensor<?x?x4xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%x : tensor<?x?x4xf32>) outs(%e : tensor<?x?x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.tanh %a : f32
    linalg.yield %v : f32
  } -> tensor<?x?x4xf32>
  %f = tensor.empty(%b) : tensor<?x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%f : tensor<?x4xf32>) -> tensor<?x4xf32>
  %s = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, k)>],
    iterator_types = ["parallel", "reduction", "parallel"]
  } ins(%y : tensor<?x?x4xf32>) outs(%z : tensor<?x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %a, %o : f32
    linalg.yield %v : f32
  } -> tensor<?x4xf32>
  return %y, %s : tensor<?x?x4xf32>, tensor<?x4xf32>
}

// What asks for the number of its sequence or of its token has two of them.
// CHECK-LABEL: func.func @numbers_sequences
// CHECK-NOT: collapse_shape
func.func @numbers_sequences(%x: tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x4xf32>
  %t = tensor.dim %x, %c1 : tensor<?x?x4xf32>
  %e = tensor.empty(%b, %t) : tensor<?x?x4xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%x : tensor<?x?x4xf32>) outs(%e : tensor<?x?x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %v = arith.mulf %a, %f : f32
    linalg.yield %v : f32
  } -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}

// CHECK-LABEL: func.func @numbers_tokens
// CHECK-NOT: collapse_shape
func.func @numbers_tokens(%x: tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x4xf32>
  %t = tensor.dim %x, %c1 : tensor<?x?x4xf32>
  %e = tensor.empty(%b, %t) : tensor<?x?x4xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%x : tensor<?x?x4xf32>) outs(%e : tensor<?x?x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 1 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %v = arith.mulf %a, %f : f32
    linalg.yield %v : f32
  } -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}
