// RUN: drawloom-opt %s --fuse-rows=cache-bytes=1000 --remarks-filter=fuse-rows --verify-semantics 2>&1 | FileCheck %s

// CHECK: remark: [Missed] NotFused{{.*}}tiles of 16 rows need 4096 bytes, budget 1000
// CHECK-NOT: scf.forall
#ij = affine_map<(i, j) -> (i, j)>
func.func @wide(%x: tensor<128x32xf32>) -> tensor<128x32xf32> {
  %e = tensor.empty() : tensor<128x32xf32>
  %y = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<128x32xf32>) outs(%e : tensor<128x32xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<128x32xf32>
  return %y : tensor<128x32xf32>
}
