// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-choose-products --remarks-filter=nvptx-choose-products 2>&1 | FileCheck %s

// A large product is the library's, and what block programs fuse is not.

// CHECK: remark: [Passed] Library
// CHECK-SAME: product="4096x1024x512 bf16"
// CHECK: remark: [Missed] Own
// CHECK-SAME: a block program fuses it with other ops
// CHECK: remark: [Missed] Own
// CHECK-SAME: a block program fuses it with other ops
// CHECK: call @large_product_0
// CHECK-LABEL: func.func @narrow
// CHECK-NOT: call
func.func @large(%a: tensor<4096x512xbf16>, %b: tensor<512x1024xbf16>, %c: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %0 = linalg.contract
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<4096x512xbf16>, tensor<512x1024xbf16>) outs(%c : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  return %0 : tensor<4096x1024xf32>
}

func.func @narrow(%x: tensor<4096x32xf32>, %v: tensor<32x32xf32>, %w: tensor<32x32xf32>) -> tensor<4096x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x32xf32>) -> tensor<4096x32xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<4096x32xf32>, tensor<32x32xf32>) outs(%f : tensor<4096x32xf32>) -> tensor<4096x32xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<4096x32xf32>, tensor<32x32xf32>) outs(%f : tensor<4096x32xf32>) -> tensor<4096x32xf32>
  return %1 : tensor<4096x32xf32>
}
