// RUN: drawloom-opt %s --fuse-rows --canonicalize --verify-semantics | FileCheck %s

// Rows that lie side by side are added by the lanes of vectors, as many as a
// tile has: the program for eleven of them has the tiles of that for any number.
// CHECK-LABEL: func.func @sum
// CHECK-NOT: tensor<11xf32> to tensor<11xf32>
// CHECK: scf.for
// CHECK:   tensor.extract_slice {{.*}}[4] [1] : tensor<11xf32> to tensor<4xf32>
// CHECK: scf.for
// CHECK:   tensor.extract_slice {{.*}}[1] [1] : tensor<11xf32> to tensor<1xf32>
func.func @sum(%x: tensor<11xf32> {drawloom.given_dims = array<i64: 0>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<11xf32>) outs(%start : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}
