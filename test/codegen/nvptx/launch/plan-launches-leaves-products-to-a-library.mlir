// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-outline-kernels --nvptx-plan-launches=product-workspace=1024 | FileCheck %s

// Elementwise work around a product: a kernel, the product of the kernel's
// result and an argument, and a kernel again. A view is the same memory. The
// product's workspace shares no byte with what is in use meanwhile.

// CHECK: drawloom.plan
// CHECK-SAME: {\22kernel\22:\22step_0\22
// CHECK-SAME: [\22argument\22,0],[\22workspace\22,0]
// CHECK-SAME: [\22workspace\22,0],[\22argument\22,1],[\22workspace\22,5120],[\22workspace\22,4096]
// CHECK-SAME: \22product\22:{\22batch\22:1,\22k\22:64,\22left_stride\22:64,\22m\22:16,\22n\22:8,\22operands\22:\22f32\22,\22result\22:\22f32\22,\22result_stride\22:8,\22right_stride\22:8},\22workspace_bytes\22:1024}
// CHECK-SAME: {\22kernel\22:\22step_2\22
// CHECK-SAME: [\22workspace\22,5120],[\22result\22,0]
// CHECK-SAME: \22workspace_bytes\22:5632
// CHECK-NOT: step_product
// CHECK: func.func private @step_0
// CHECK: func.func private @step_2
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func private @step_product_0(%a: tensor<16x64xf32>, %b: tensor<64x8xf32>) -> tensor<16x8xf32>
    attributes {drawloom.product = {batch = 1 : i64, k = 64 : i64, left_stride = 64 : i64, m = 16 : i64, n = 8 : i64,
                operands = "f32", result = "f32", result_stride = 8 : i64, right_stride = 8 : i64}, no_inline} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x8xf32>) -> tensor<16x8xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<16x64xf32>, tensor<64x8xf32>) outs(%f : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
func.func @step(%x: tensor<16x8x8xf32>, %w: tensor<64x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<16x8x8xf32>
  %h = linalg.exp ins(%x : tensor<16x8x8xf32>) outs(%e : tensor<16x8x8xf32>) -> tensor<16x8x8xf32>
  %flat = tensor.collapse_shape %h [[0], [1, 2]] : tensor<16x8x8xf32> into tensor<16x64xf32>
  %y = call @step_product_0(%flat, %w) : (tensor<16x64xf32>, tensor<64x8xf32>) -> tensor<16x8xf32>
  %f = tensor.empty() : tensor<16x8xf32>
  %z = linalg.exp ins(%y : tensor<16x8xf32>) outs(%f : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %z : tensor<16x8xf32>
}
