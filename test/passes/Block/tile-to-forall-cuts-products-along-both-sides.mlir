// RUN: drawloom-opt %s --tile-to-forall --verify-semantics | FileCheck %s

// CHECK-LABEL: func.func @tall
// CHECK: scf.forall ({{.*}}) = (0) to (4096) step (128)
// CHECK: linalg.matmul ins({{.*}} : tensor<128x256xf32>, tensor<256x256xf32>)
func.func @tall(%a: tensor<4096x256xf32>, %b: tensor<256x256xf32>, %c: tensor<4096x256xf32>) -> tensor<4096x256xf32> {
  %y = linalg.matmul ins(%a, %b : tensor<4096x256xf32>, tensor<256x256xf32>) outs(%c : tensor<4096x256xf32>) -> tensor<4096x256xf32>
  return %y : tensor<4096x256xf32>
}

// Too few pieces of rows alone.
// CHECK-LABEL: func.func @wide
// CHECK: scf.forall ({{.*}}) = (0, 0) to (256, 2048) step (128, 256)
func.func @wide(%a: tensor<256x256xf32>, %b: tensor<256x2048xf32>, %c: tensor<256x2048xf32>) -> tensor<256x2048xf32> {
  %y = linalg.matmul ins(%a, %b : tensor<256x256xf32>, tensor<256x2048xf32>) outs(%c : tensor<256x2048xf32>) -> tensor<256x2048xf32>
  return %y : tensor<256x2048xf32>
}

// Small pieces of a batch are products of one pair of matrices.
// RUN: drawloom-opt %s --tile-to-forall='piece-iterations=2048' | FileCheck %s --check-prefix=SMALL
// SMALL-LABEL: func.func @batch
// SMALL: scf.forall ({{.*}}) = (0, 0, 0) to (64, 32, 32) step (64, 1, 32)
// SMALL: linalg.contract {{.*}} ins({{.*}} : tensor<64x1x32xf32>, tensor<1x32x32xf32>)
#x = affine_map<(t, b, n, k) -> (t, b, k)>
#w = affine_map<(t, b, n, k) -> (b, k, n)>
#y = affine_map<(t, b, n, k) -> (t, b, n)>
func.func @batch(%x: tensor<64x32x32xf32>, %w: tensor<32x32x32xf32>, %init: tensor<64x32x32xf32>) -> tensor<64x32x32xf32> {
  %y = linalg.contract indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<64x32x32xf32>, tensor<32x32x32xf32>) outs(%init : tensor<64x32x32xf32>) -> tensor<64x32x32xf32>
  return %y : tensor<64x32x32xf32>
}
