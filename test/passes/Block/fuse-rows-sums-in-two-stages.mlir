// RUN: drawloom-opt %s --fuse-rows=max-blocks=4 --canonicalize --verify-semantics | FileCheck %s

// A weight gradient is a partial of each block, carried through its tiles, and an
// ordered sum of the partials.
// CHECK-LABEL: func.func @weight_gradient
// CHECK: scf.forall (%{{.*}}) in (4) shared_outs(%[[OUT:.*]] = %{{.*}}) -> (tensor<4x32x16xf32>)
// CHECK:   scf.for {{.*}} iter_args
// CHECK:     linalg.contract {{.*}} ins({{.*}} : tensor<64x32xf32>, tensor<64x16xf32>)
// CHECK:   tensor.parallel_insert_slice {{.*}} [1, 32, 16]
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel", "parallel"]} ins({{.*}} : tensor<4x32x16xf32>)
func.func @weight_gradient(%x: tensor<1024x32xf32>, %g: tensor<1024x16xf32>) -> tensor<32x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x16xf32>) -> tensor<32x16xf32>
  %ex = tensor.empty() : tensor<1024x32xf32>
  %y = linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%x : tensor<1024x32xf32>) outs(%ex : tensor<1024x32xf32>) -> tensor<1024x32xf32>
  %dw = linalg.contract
    indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%y, %g : tensor<1024x32xf32>, tensor<1024x16xf32>) outs(%f : tensor<32x16xf32>) -> tensor<32x16xf32>
  return %dw : tensor<32x16xf32>
}

// Of 17 tiles, three blocks have five and the last one two.
// CHECK-LABEL: func.func @uneven
// CHECK: scf.forall (%[[B:.*]]) in (4)
// CHECK: %[[FIRST:.*]] = arith.muli %[[B]], %c320
// CHECK: %[[LEFT:.*]] = arith.subi %c1088, %[[FIRST]]
// CHECK: %[[ROWS:.*]] = arith.minsi %[[LEFT]], %c320
// CHECK: scf.for {{.*}} to %[[ROWS]]
// CHECK: tensor.parallel_insert_slice {{.*}} [1, 32, 16]
func.func @uneven(%x: tensor<1088x32xf32>, %g: tensor<1088x16xf32>) -> tensor<32x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x16xf32>) -> tensor<32x16xf32>
  %ex = tensor.empty() : tensor<1088x32xf32>
  %y = linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%x : tensor<1088x32xf32>) outs(%ex : tensor<1088x32xf32>) -> tensor<1088x32xf32>
  %dw = linalg.contract
    indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%y, %g : tensor<1088x32xf32>, tensor<1088x16xf32>) outs(%f : tensor<32x16xf32>) -> tensor<32x16xf32>
  return %dw : tensor<32x16xf32>
}
