// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --split-input-file --decompose-graph --promote-accumulators --merge-elementwise --nvptx-choose-products=all --verify-semantics | FileCheck %s

// The library's GELU is the form with tanh.
// CHECK-LABEL: func.func private @tanh_product_0
// CHECK-SAME: gelu,
// CHECK-LABEL: func.func @tanh
// CHECK-NOT: math.tanh
// CHECK: return
func.func @tanh(%x: tensor<32x16xf32>, %w: tensor<16x24xf32>) -> tensor<32x24xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x24xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x24xf32>) -> tensor<32x24xf32>
  %p = linalg.matmul ins(%x, %w : tensor<32x16xf32>, tensor<16x24xf32>) outs(%f : tensor<32x24xf32>) -> tensor<32x24xf32>
  %y = kan.gelu %p {approximate = "tanh"} : tensor<32x24xf32>
  return %y : tensor<32x24xf32>
}

// -----

// The form with erf is another function.
// CHECK-LABEL: func.func private @erf_product_0
// CHECK-NOT: gelu
// CHECK-LABEL: func.func @erf
// CHECK: math.erf
func.func @erf(%x: tensor<32x16xf32>, %w: tensor<16x24xf32>) -> tensor<32x24xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x24xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x24xf32>) -> tensor<32x24xf32>
  %p = linalg.matmul ins(%x, %w : tensor<32x16xf32>, tensor<16x24xf32>) outs(%f : tensor<32x24xf32>) -> tensor<32x24xf32>
  %y = kan.gelu %p : tensor<32x24xf32>
  return %y : tensor<32x24xf32>
}

// -----

// So is one with another number in it.
// CHECK-LABEL: func.func private @close_product_0
// CHECK-NOT: gelu
// CHECK-LABEL: func.func @close
// CHECK: math.tanh
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @close(%x: tensor<32x16xf32>, %w: tensor<16x24xf32>) -> tensor<32x24xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x24xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x24xf32>) -> tensor<32x24xf32>
  %p = linalg.matmul ins(%x, %w : tensor<32x16xf32>, tensor<16x24xf32>) outs(%f : tensor<32x24xf32>) -> tensor<32x24xf32>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<32x24xf32>) outs(%e : tensor<32x24xf32>) {
  ^bb0(%v: f32, %o: f32):
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %factor = arith.constant 0.044 : f32
    %root = arith.constant 0.797884583 : f32
    %v2 = arith.mulf %v, %v : f32
    %v3 = arith.mulf %v2, %v : f32
    %cubic = arith.mulf %v3, %factor : f32
    %sum = arith.addf %v, %cubic : f32
    %inner = arith.mulf %sum, %root : f32
    %tanh = math.tanh %inner : f32
    %more = arith.addf %tanh, %one : f32
    %less = arith.mulf %v, %half : f32
    %g = arith.mulf %less, %more : f32
    linalg.yield %g : f32
  } -> tensor<32x24xf32>
  return %y : tensor<32x24xf32>
}

// -----

// In bf16 with a bias: the library rounds once, behind the curve.
// CHECK-LABEL: func.func private @narrow_product_0
// CHECK-SAME: bias, gelu,
// CHECK-SAME: result = "bf16"
// CHECK-LABEL: func.func @narrow
// CHECK-NOT: math.tanh
// CHECK: return
func.func @narrow(%x: tensor<32x16xbf16>, %w: tensor<16x24xbf16>, %b: tensor<24xbf16>) -> tensor<32x24xbf16> {
  %e = tensor.empty() : tensor<32x24xbf16>
  %f = linalg.broadcast ins(%b : tensor<24xbf16>) outs(%e : tensor<32x24xbf16>) dimensions = [0]
  %p = linalg.matmul ins(%x, %w : tensor<32x16xbf16>, tensor<16x24xbf16>) outs(%f : tensor<32x24xbf16>) -> tensor<32x24xbf16>
  %y = kan.gelu %p {approximate = "tanh"} : tensor<32x24xbf16>
  return %y : tensor<32x24xbf16>
}
