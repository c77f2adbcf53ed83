// RUN: drawloom-opt %s --cpu-tile-and-vectorize=isa=avx2 --cpu-verify-vectors --verify-semantics | FileCheck %s

// The gradient of a product's right factor comes with the rows' loop first and
// with the operands the other way round.
// CHECK: #[[LEFT:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK: #[[RIGHT:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #[[OUT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @weight_gradient
// CHECK: vector.contract {indexing_maps = [#[[LEFT]], #[[RIGHT]], #[[OUT]]], iterator_types = ["parallel", "parallel", "reduction"]
func.func @weight_gradient(%g: tensor<64x16xf32>, %x: tensor<64x8xf32>, %init: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = linalg.contract indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>]
    ins(%g, %x : tensor<64x16xf32>, tensor<64x8xf32>) outs(%init : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// So do those of batched products.
// CHECK-LABEL: func.func @batched
// CHECK: vector.contract {{.*}} : vector<1x6xf32>, vector<1x16xf32> into vector<6x16xf32>
func.func @batched(%a: tensor<8x16x16xf32>, %b: tensor<8x16x16xf32>, %c: tensor<8x16x16xf32>) -> tensor<8x16x16xf32> {
  %d = linalg.contract indexing_maps = [affine_map<(b, k, m, n) -> (b, k, n)>, affine_map<(b, k, m, n) -> (b, k, m)>, affine_map<(b, k, m, n) -> (b, m, n)>]
    ins(%a, %b : tensor<8x16x16xf32>, tensor<8x16x16xf32>) outs(%c : tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
  return %d : tensor<8x16x16xf32>
}

// So do those with rows along several loops.
// CHECK-LABEL: func.func @several_rows
// CHECK: vector.contract {{.*}}, iterator_types = ["parallel", "parallel", "reduction"]{{.*}} : vector<1x5xf32>, vector<1x16xf32> into vector<5x16xf32>
func.func @several_rows(%a: tensor<8x9x9xf32>, %b: tensor<8x47xf32>, %c: tensor<9x9x47xf32>) -> tensor<9x9x47xf32> {
  %d = linalg.contract indexing_maps = [affine_map<(k, m1, m2, n) -> (k, m1, m2)>, affine_map<(k, m1, m2, n) -> (k, n)>, affine_map<(k, m1, m2, n) -> (m2, m1, n)>]
    ins(%a, %b : tensor<8x9x9xf32>, tensor<8x47xf32>) outs(%c : tensor<9x9x47xf32>) -> tensor<9x9x47xf32>
  return %d : tensor<9x9x47xf32>
}

// CHECK-LABEL: func.func @several_columns
// CHECK: vector.contract {{.*}}, iterator_types = ["parallel", "parallel", "reduction"]{{.*}} : vector<1x5xf32>, vector<1x16xf32> into vector<5x16xf32>
func.func @several_columns(%b: tensor<8x47xf32>, %a: tensor<8x9x9xf32>, %c: tensor<9x9x47xf32>) -> tensor<9x9x47xf32> {
  %d = linalg.contract indexing_maps = [affine_map<(k, m, n1, n2) -> (k, m)>, affine_map<(k, m, n1, n2) -> (k, n1, n2)>, affine_map<(k, m, n1, n2) -> (n2, n1, m)>]
    ins(%b, %a : tensor<8x47xf32>, tensor<8x9x9xf32>) outs(%c : tensor<9x9x47xf32>) -> tensor<9x9x47xf32>
  return %d : tensor<9x9x47xf32>
}

// A product of vectors has neither rows nor columns.
// CHECK-LABEL: func.func @vectors
func.func @vectors(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<f32>) -> tensor<f32> {
  %d = linalg.dot ins(%a, %b : tensor<8xf32>, tensor<8xf32>) outs(%c : tensor<f32>) -> tensor<f32>
  return %d : tensor<f32>
}
