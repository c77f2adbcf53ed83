// RUN: drawloom-opt %s --cpu-tile-and-vectorize=isa=avx2 --cpu-verify-vectors --verify-semantics | FileCheck %s

// The bias is added to the accumulators before they are stored.
#rc = affine_map<(r, c) -> (r, c)>
#c = affine_map<(r, c) -> (c)>
// CHECK-LABEL: func.func @layer
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[SUM:.*]] = scf.for {{.*}} -> (vector<6x16xf32>)
// CHECK: vector.contract {{.*}} : vector<6x1xf32>, vector<1x16xf32> into vector<6x16xf32>
// CHECK: arith.addf %[[SUM]]
// CHECK: vector.transfer_write {{.*}} tensor<64x32xf32>
// CHECK-NOT: linalg
func.func @layer(%x: tensor<64x8xf32>, %w: tensor<8x32xf32>, %b: tensor<32xf32>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
  %m = linalg.matmul ins(%x, %w : tensor<64x8xf32>, tensor<8x32xf32>) outs(%f : tensor<64x32xf32>) -> tensor<64x32xf32>
  %y = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]}
      ins(%m, %b : tensor<64x32xf32>, tensor<32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%a: f32, %d: f32, %u: f32):
    %s = arith.addf %a, %d : f32
    linalg.yield %s : f32
  } -> tensor<64x32xf32>
  return %y : tensor<64x32xf32>
}
