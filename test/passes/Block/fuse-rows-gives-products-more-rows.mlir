// RUN: drawloom-opt %s --fuse-rows="cache-bytes=16384 swept-bytes=1048576 product-bytes=32768 summed-product-bytes=8192" --remarks-filter=fuse-rows --verify-semantics -o /dev/null 2>&1 | FileCheck %s

// Tiles have their budget by what is done on them: 512 bytes a row of a product alone are 64 rows, of a product with a sum beside it 16,
// and where nothing is multiplied 32.
// CHECK: [Passed] Fused {{.*}}tileRows=64
func.func @product(%x: tensor<256x64xf32>, %w: tensor<64x64xf32>) -> tensor<256x64xf32> {
  %zero = arith.constant dense<0.0> : tensor<256x64xf32>
  %h = linalg.matmul ins(%x, %w : tensor<256x64xf32>, tensor<64x64xf32>) outs(%zero : tensor<256x64xf32>) -> tensor<256x64xf32>
  return %h : tensor<256x64xf32>
}

// CHECK: [Passed] Fused {{.*}}tileRows=16
func.func @sum(%x: tensor<256x64xf32>, %w: tensor<64x64xf32>) -> (tensor<256x64xf32>, tensor<64xf32>) {
  %z = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : tensor<256x64xf32>
  %h = linalg.matmul ins(%x, %w : tensor<256x64xf32>, tensor<64x64xf32>) outs(%zero : tensor<256x64xf32>) -> tensor<256x64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<256x64xf32>) outs(%f : tensor<64xf32>) dimensions = [0]
  return %h, %s : tensor<256x64xf32>, tensor<64xf32>
}

// CHECK: [Passed] Fused {{.*}}tileRows=32
func.func @elementwise(%x: tensor<256x64xf32>) -> tensor<256x64xf32> {
  %e = tensor.empty() : tensor<256x64xf32>
  %y = linalg.exp ins(%x : tensor<256x64xf32>) outs(%e : tensor<256x64xf32>) -> tensor<256x64xf32>
  return %y : tensor<256x64xf32>
}
