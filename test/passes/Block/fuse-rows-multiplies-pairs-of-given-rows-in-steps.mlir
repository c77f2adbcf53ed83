// RUN: drawloom-opt %s --fuse-rows --canonicalize --verify-semantics | FileCheck %s

// Products of bf16 are added two by two where a processor does that, and one by
// one where a tile has an odd number of rows: the program for eleven of them has
// the tiles of that for any number.
// CHECK-LABEL: func.func @gradient
// CHECK: scf.for
// CHECK:   linalg.contract {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x16xbf16>, tensor<4x8xbf16>)
// CHECK: scf.for
// CHECK:   linalg.contract {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x16xbf16>, tensor<1x8xbf16>)
func.func @gradient(%x: tensor<11x16xbf16> {drawloom.given_dims = array<i64: 0>}, %dy: tensor<11x8xbf16> {drawloom.given_dims = array<i64: 0>}) -> tensor<16x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x8xf32>) -> tensor<16x8xf32>
  %y = linalg.contract indexing_maps = [affine_map<(r, i, j) -> (r, i)>, affine_map<(r, i, j) -> (r, j)>, affine_map<(r, i, j) -> (i, j)>]
    ins(%x, %dy : tensor<11x16xbf16>, tensor<11x8xbf16>) outs(%start : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %y : tensor<16x8xf32>
}
