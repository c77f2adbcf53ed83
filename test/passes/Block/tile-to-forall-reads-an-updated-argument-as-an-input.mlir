// RUN: drawloom-opt %s --tile-to-forall=min-iterations=16 --verify-semantics | FileCheck %s
// RUN: drawloom-opt %s --tile-to-forall=min-iterations=16 --verify-semantics -o /dev/null

// Updated in place, %p would be copied before the first block.
#map = affine_map<(i) -> (i)>
// CHECK-LABEL: func.func @update
// CHECK-SAME: (%[[P:.*]]: tensor<64xf32>, %[[G:.*]]: tensor<64xf32>)
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<64xf32>
// CHECK: scf.forall {{.*}} shared_outs(%{{.*}} = %[[EMPTY]])
func.func @update(%p: tensor<64xf32>, %g: tensor<64xf32>) -> tensor<64xf32> {
  %q = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%g : tensor<64xf32>) outs(%p : tensor<64xf32>) {
  ^bb0(%gi: f32, %pi: f32):
    %r = arith.subf %pi, %gi : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %q : tensor<64xf32>
}
