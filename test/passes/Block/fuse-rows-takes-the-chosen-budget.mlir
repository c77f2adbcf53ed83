// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --fuse-rows="cache-bytes=16384 swept-bytes=1048576 product-bytes=32768 summed-product-bytes=8192 max-rows=256" --remarks-filter=fuse-rows --verify-semantics -o /dev/null 2>&1 | FileCheck %s

// 512 bytes a row of a product with a sum beside it: 32 KiB instead of 8 are 64 rows, not 16.
// CHECK: [Passed] Fused {{.*}}tileRows=64
func.func @sum(%x: tensor<256x64xf32>, %w: tensor<64x64xf32>) -> (tensor<256x64xf32>, tensor<64xf32>) attributes {drawloom.tile_bytes = 32768 : i64} {
  %z = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : tensor<256x64xf32>
  %h = linalg.matmul ins(%x, %w : tensor<256x64xf32>, tensor<64x64xf32>) outs(%zero : tensor<256x64xf32>) -> tensor<256x64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<256x64xf32>) outs(%f : tensor<64xf32>) dimensions = [0]
  return %h, %s : tensor<256x64xf32>, tensor<64xf32>
}

// Where nothing is added up, the budget is that of the others: 64 rows.
// CHECK: [Passed] Fused {{.*}}tileRows=64
func.func @product(%x: tensor<256x64xf32>, %w: tensor<64x64xf32>) -> tensor<256x64xf32> attributes {drawloom.tile_bytes = 32768 : i64} {
  %zero = arith.constant dense<0.0> : tensor<256x64xf32>
  %h = linalg.matmul ins(%x, %w : tensor<256x64xf32>, tensor<64x64xf32>) outs(%zero : tensor<256x64xf32>) -> tensor<256x64xf32>
  return %h : tensor<256x64xf32>
}
