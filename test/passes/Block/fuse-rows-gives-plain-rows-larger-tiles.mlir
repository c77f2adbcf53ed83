// RUN: drawloom-opt %s --fuse-rows="max-rows=16 max-plain-rows=256 max-blocks=8" --remarks-filter=fuse-rows --verify-semantics -o /dev/null 2>&1 | FileCheck %s

// Where nothing is multiplied, tiles may be larger; yet so many of them are left that all blocks have one.
// CHECK: [Passed] Fused {{.*}}tileRows=256
func.func @many(%x: tensor<8192xf32>) -> tensor<8192xf32> {
  %e = tensor.empty() : tensor<8192xf32>
  %y = linalg.exp ins(%x : tensor<8192xf32>) outs(%e : tensor<8192xf32>) -> tensor<8192xf32>
  return %y : tensor<8192xf32>
}

// CHECK: [Passed] Fused {{.*}}tileRows=64
func.func @few(%x: tensor<512xf32>) -> tensor<512xf32> {
  %e = tensor.empty() : tensor<512xf32>
  %y = linalg.exp ins(%x : tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  return %y : tensor<512xf32>
}

// CHECK: [Passed] Fused {{.*}}tileRows=16
func.func @product(%x: tensor<8192x8xf32>, %w: tensor<8x8xf32>) -> tensor<8192x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8192x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8192x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8192x8xf32>) -> tensor<8192x8xf32>
  %e = tensor.empty() : tensor<8192x8xf32>
  %y = linalg.exp ins(%h : tensor<8192x8xf32>) outs(%e : tensor<8192x8xf32>) -> tensor<8192x8xf32>
  return %y : tensor<8192x8xf32>
}
