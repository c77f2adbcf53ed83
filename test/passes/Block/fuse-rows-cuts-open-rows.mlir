// RUN: drawloom-opt %s --fuse-rows=max-blocks=8 --canonicalize --cse --verify-semantics | FileCheck %s

// A call says how many rows there are. As many blocks of whole tiles as follow
// from that, and one for the rest, in tiles of 16 rows, of four and of one. Only so
// many partial sums are added up as there are blocks.
// CHECK-LABEL: func.func @project
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>
// CHECK: %[[ROWS:.*]] = tensor.dim %[[X]]
// CHECK: %[[TILES:.*]] = arith.divui %[[ROWS]]
// CHECK: %[[REST:.*]] = arith.remui %[[ROWS]]
// CHECK: scf.forall ({{.*}}) in (%[[BLOCKS:.*]]) shared_outs{{.*}} -> (tensor<?x8xf32>, tensor<8x8xf32>)
// CHECK:   scf.for
// CHECK:     tensor.extract_slice {{.*}} [64, 8] [1, 1] : tensor<?x8xf32> to tensor<64x8xf32>
// CHECK: tensor.extract_slice {{.*}}[%[[BLOCKS]], 8] {{.*}} to tensor<?x8xf32>
// CHECK: scf.forall
// CHECK:   scf.for
// CHECK:     to tensor<16x8xf32>
// CHECK:   scf.for
// CHECK:     to tensor<4x8xf32>
// CHECK:   scf.for
// CHECK:     to tensor<1x8xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x8xf32>) {{.*}} attrs = {drawloom.in_order}
#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>
func.func @project(%x: tensor<?x8xf32> {check.shape = array<i64: 150, 8>}) -> (tensor<?x8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%rows) : tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x8xf32>) outs(%empty : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %a : f32
    linalg.yield %0 : f32
  } -> tensor<?x8xf32>
  %none = tensor.empty() : tensor<8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%none : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<?x8xf32>) outs(%start : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %y, %sum : tensor<?x8xf32>, tensor<8xf32>
}
