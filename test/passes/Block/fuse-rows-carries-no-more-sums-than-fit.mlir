// RUN: drawloom-opt %s --fuse-rows=sum-bytes=3000 --remarks-filter=fuse-rows --verify-semantics -o /dev/null 2>&1 | FileCheck %s
// RUN: drawloom-opt %s --fuse-rows --remarks-filter=fuse-rows --verify-semantics -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHOLE

// Each weight gradient is 2 KiB: one block program carries one of them.
// CHECK-COUNT-2: [Passed] Fused {{.*}}accumulatorBytes=2048
// WHOLE: [Passed] Fused {{.*}}accumulatorBytes=4096
func.func @gradients(%x: tensor<1024x32xf32>, %g: tensor<1024x16xf32>) -> (tensor<32x16xf32>, tensor<16x32xf32>) {
  %z = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<1024x32xf32>
  %y = linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%x : tensor<1024x32xf32>) outs(%ex : tensor<1024x32xf32>) -> tensor<1024x32xf32>
  %e = tensor.empty() : tensor<32x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x16xf32>) -> tensor<32x16xf32>
  %ev = tensor.empty() : tensor<16x32xf32>
  %fv = linalg.fill ins(%z : f32) outs(%ev : tensor<16x32xf32>) -> tensor<16x32xf32>
  %dw = linalg.contract
    indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%y, %g : tensor<1024x32xf32>, tensor<1024x16xf32>) outs(%f : tensor<32x16xf32>) -> tensor<32x16xf32>
  %dv = linalg.contract
    indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%g, %y : tensor<1024x16xf32>, tensor<1024x32xf32>) outs(%fv : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %dw, %dv : tensor<32x16xf32>, tensor<16x32xf32>
}
