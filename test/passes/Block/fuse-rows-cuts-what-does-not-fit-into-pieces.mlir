// RUN: drawloom-opt %s --fuse-rows=cache-bytes=26000 --remarks-filter=fuse-rows --verify-semantics -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=IR --input-file=%t
// RUN: drawloom-opt %s --fuse-rows=cache-bytes=26000 --verify-semantics -o /dev/null

// The weights and 16 rows of three values take 28 KiB: the layers' rows are stored, and the sum
// reads them in a program of its own.
// CHECK: remark: [Passed] Fused
// CHECK-SAME: ops=2,{{.*}}rowResults=2
// CHECK: remark: [Passed] Fused
// CHECK-SAME: ops=1,{{.*}}rowResults=1
// IR: %[[LAYERS:.*]]:2 = scf.forall
// IR: scf.forall
// IR: tensor.extract_slice %[[LAYERS]]#1
#ij = affine_map<(i, j) -> (i, j)>
func.func @layers(%x: tensor<256x64xf32>, %w: tensor<64x64xf32>) -> tensor<256x64xf32> {
  %zero = arith.constant dense<0.0> : tensor<256x64xf32>
  %h = linalg.matmul ins(%x, %w : tensor<256x64xf32>, tensor<64x64xf32>) outs(%zero : tensor<256x64xf32>) -> tensor<256x64xf32>
  %y = linalg.matmul ins(%h, %w : tensor<256x64xf32>, tensor<64x64xf32>) outs(%zero : tensor<256x64xf32>) -> tensor<256x64xf32>
  %z = linalg.add ins(%y, %h : tensor<256x64xf32>, tensor<256x64xf32>) outs(%zero : tensor<256x64xf32>) -> tensor<256x64xf32>
  return %z : tensor<256x64xf32>
}
