// RUN: drawloom-opt %s --fuse-rows --remarks-filter=fuse-rows --verify-semantics 2>&1 | FileCheck %s

// CHECK: [[@LINE+6]]:8: remark: [Missed] NotFused | Category:fuse-rows{{.*}}Reason="the op relates rows with rows"
// CHECK-NOT: scf.forall
func.func @gram(%x: tensor<128x32xf32>) -> tensor<128x128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  %g = linalg.contract
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%x, %x : tensor<128x32xf32>, tensor<128x32xf32>) outs(%f : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %g : tensor<128x128xf32>
}
