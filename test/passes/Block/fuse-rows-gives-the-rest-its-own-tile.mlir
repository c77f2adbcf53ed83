// RUN: drawloom-opt %s --fuse-rows --verify-semantics | FileCheck %s

// 100 rows: one tile of 64 and one of 36, both of static shape.
// CHECK: scf.forall (%{{.*}}) in (1)
// CHECK: tensor<64x32xf32>
// CHECK: scf.forall (%{{.*}}) in (1)
// CHECK: tensor<36x32xf32>
// CHECK-NOT: tensor<?
#ij = affine_map<(i, j) -> (i, j)>
func.func @rest(%x: tensor<100x32xf32>) -> tensor<100x32xf32> {
  %e = tensor.empty() : tensor<100x32xf32>
  %y = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<100x32xf32>) outs(%e : tensor<100x32xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<100x32xf32>
  return %y : tensor<100x32xf32>
}

// Its sums are an array of their own, which comes last.
// CHECK-LABEL: func.func @sum
// CHECK: %[[MANY:.*]]:2 = scf.forall {{.*}}-> (tensor<100x32xf32>, tensor<1x32xf32>)
// CHECK: %[[REST:.*]]:2 = scf.forall {{.*}}-> (tensor<100x32xf32>, tensor<1x32xf32>)
// CHECK: %[[FIRST:.*]] = linalg.generic {{.*}}ins(%[[MANY]]#1 : tensor<1x32xf32>)
// CHECK: linalg.generic {{.*}}ins(%[[REST]]#1 : tensor<1x32xf32>) outs(%[[FIRST]] : tensor<32xf32>)
func.func @sum(%x: tensor<100x32xf32>) -> (tensor<100x32xf32>, tensor<32xf32>) {
  %d = tensor.empty() : tensor<100x32xf32>
  %y = linalg.exp ins(%x : tensor<100x32xf32>) outs(%d : tensor<100x32xf32>) -> tensor<100x32xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32xf32>) -> tensor<32xf32>
  %s = linalg.reduce { arith.addf } ins(%y : tensor<100x32xf32>) outs(%f : tensor<32xf32>) dimensions = [0]
  return %y, %s : tensor<100x32xf32>, tensor<32xf32>
}
