// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --split-input-file --nvptx-choose-products=all --verify-semantics | FileCheck %s

// Bias, ReLU and the rounding to bf16 are the library's; the sum's bias is
// widened in front of the product.
// CHECK-LABEL: func.func private @layer_product_0
// CHECK-SAME: (%{{.*}}: tensor<32x16xbf16>, %{{.*}}: tensor<16x24xbf16>, %{{.*}}: tensor<24xbf16>) -> tensor<32x24xbf16>
// CHECK-SAME: drawloom.product = {batch = 1 : i64, bias, k = 16 : i64, left_stride = 16 : i64, m = 32 : i64, n = 24 : i64, operands = "bf16", relu, result = "bf16", result_stride = 24 : i64, right_stride = 24 : i64}
// CHECK-SAME: no_inline
// CHECK: linalg.broadcast
// CHECK: linalg.contract
// CHECK-LABEL: func.func @layer
// CHECK-NEXT: %[[Y:.*]] = call @layer_product_0(%arg0, %arg1, %arg2)
// CHECK-SAME: drawloom.same_dimensions = array<i64: 0, 1, 1, 0, 0, 0, 3, 0, 1, 1, 3, 1, 2, 0, 3, 1>
// CHECK-NEXT: return %[[Y]]
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @layer(%x: tensor<32x16xbf16>, %w: tensor<16x24xbf16>, %b: tensor<24xbf16>) -> tensor<32x24xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x24xbf16>
  %f = tensor.empty() : tensor<32x24xf32>
  %rows = linalg.broadcast ins(%b : tensor<24xbf16>) outs(%e : tensor<32x24xbf16>) dimensions = [0]
  %wide = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%rows : tensor<32x24xbf16>) outs(%f : tensor<32x24xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %0 = arith.extf %in : bf16 to f32
    linalg.yield %0 : f32
  } -> tensor<32x24xf32>
  %sum = linalg.contract
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<32x16xbf16>, tensor<16x24xbf16>) outs(%wide : tensor<32x24xf32>) -> tensor<32x24xf32>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%sum : tensor<32x24xf32>) outs(%e : tensor<32x24xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %0 = arith.cmpf ugt, %in, %zero : f32
    %1 = arith.select %0, %in, %zero : f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<32x24xbf16>
  return %y : tensor<32x24xbf16>
}

// -----

// A result that lies by columns is the exchanged product; a sum that starts
// from other numbers adds them.
// CHECK-LABEL: func.func private @columns_product_0
// CHECK-SAME: (%{{.*}}: tensor<8x24xf32>, %{{.*}}: tensor<8x32xf32>, %{{.*}}: tensor<24x32xf32>) -> tensor<24x32xf32>
// CHECK-SAME: {addend, addend_stride = 32 : i64, batch = 1 : i64, k = 8 : i64, left_stride = 24 : i64, m = 24 : i64, n = 32 : i64, operands = "f32", result = "f32", result_stride = 32 : i64, right_stride = 32 : i64, transpose_left}
// CHECK-LABEL: func.func @columns
// CHECK: call @columns_product_0(%arg1, %arg0, %arg2)
func.func @columns(%a: tensor<8x32xf32>, %b: tensor<8x24xf32>, %c: tensor<24x32xf32>) -> tensor<24x32xf32> {
  %0 = linalg.contract
      indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (n, m)>]
      ins(%a, %b : tensor<8x32xf32>, tensor<8x24xf32>) outs(%c : tensor<24x32xf32>) -> tensor<24x32xf32>
  return %0 : tensor<24x32xf32>
}

// -----

// Heads beside each other: batches by strides.
// CHECK-LABEL: func.func private @heads_product_0
// CHECK-SAME: {batch = 4 : i64, k = 16 : i64, left_batch = 16 : i64, left_stride = 64 : i64, m = 10 : i64, n = 12 : i64, operands = "f32", result = "f32", result_batch = 120 : i64, result_stride = 12 : i64, right_batch = 192 : i64, right_stride = 16 : i64, transpose_right}
func.func @heads(%q: tensor<10x4x16xf32>, %k: tensor<4x12x16xf32>) -> tensor<4x10x12xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x10x12xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x10x12xf32>) -> tensor<4x10x12xf32>
  %0 = linalg.contract
      indexing_maps = [affine_map<(h, m, n, k) -> (m, h, k)>, affine_map<(h, m, n, k) -> (h, n, k)>, affine_map<(h, m, n, k) -> (h, m, n)>]
      ins(%q, %k : tensor<10x4x16xf32>, tensor<4x12x16xf32>) outs(%f : tensor<4x10x12xf32>) -> tensor<4x10x12xf32>
  return %0 : tensor<4x10x12xf32>
}

// -----

// What the library cannot do stays: a bias of another type than the result's
// is added apart, integers are no floats, and a matrix without a dimension that
// runs along memory has no place.
// CHECK-LABEL: func.func private @bias_product_0
// CHECK-SAME: (%{{.*}}: tensor<8x16xbf16>, %{{.*}}: tensor<16x24xbf16>) -> tensor<8x24xf32>
// CHECK-LABEL: func.func @bias
// CHECK: call @bias_product_0
// CHECK: arith.truncf
// CHECK-LABEL: func.func @integers
// CHECK: linalg.matmul
// CHECK-LABEL: func.func @strided
// CHECK: linalg.contract
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @bias(%x: tensor<8x16xbf16>, %w: tensor<16x24xbf16>, %b: tensor<24xf32>) -> tensor<8x24xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x24xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x24xf32>) -> tensor<8x24xf32>
  %sum = linalg.contract
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<8x16xbf16>, tensor<16x24xbf16>) outs(%f : tensor<8x24xf32>) -> tensor<8x24xf32>
  %h = tensor.empty() : tensor<8x24xbf16>
  %y = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (d1)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %b : tensor<8x24xf32>, tensor<24xf32>) outs(%h : tensor<8x24xbf16>) {
  ^bb0(%in: f32, %add: f32, %out: bf16):
    %0 = arith.addf %in, %add : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<8x24xbf16>
  return %y : tensor<8x24xbf16>
}
func.func @integers(%a: tensor<8x8xi32>, %b: tensor<8x8xi32>, %c: tensor<8x8xi32>) -> tensor<8x8xi32> {
  %0 = linalg.matmul ins(%a, %b : tensor<8x8xi32>, tensor<8x8xi32>) outs(%c : tensor<8x8xi32>) -> tensor<8x8xi32>
  return %0 : tensor<8x8xi32>
}
func.func @strided(%a: tensor<8x9x4xf32>, %b: tensor<9x4x5xf32>, %c: tensor<4x8x5xf32>) -> tensor<4x8x5xf32> {
  %0 = linalg.contract
      indexing_maps = [affine_map<(h, m, n, k) -> (m, k, h)>, affine_map<(h, m, n, k) -> (k, h, n)>, affine_map<(h, m, n, k) -> (h, m, n)>]
      ins(%a, %b : tensor<8x9x4xf32>, tensor<9x4x5xf32>) outs(%c : tensor<4x8x5xf32>) -> tensor<4x8x5xf32>
  return %0 : tensor<4x8x5xf32>
}

// -----

// A bias for each row is none for each column, though there are as many of
// them: it is added apart.
// CHECK-LABEL: func.func private @rows_product_0
// CHECK-SAME: {batch = 1 : i64, k = 8 : i64,
// CHECK-LABEL: func.func @rows
// CHECK: call @rows_product_0(%arg0, %arg1)
// CHECK: arith.addf
#square = affine_map<(d0, d1) -> (d0, d1)>
func.func @rows(%x: tensor<16x8xf32>, %w: tensor<8x16xf32>, %v: tensor<16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %sum = linalg.matmul ins(%x, %w : tensor<16x8xf32>, tensor<8x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %y = linalg.generic {indexing_maps = [#square, affine_map<(d0, d1) -> (d0)>, #square], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %v : tensor<16x16xf32>, tensor<16xf32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%in: f32, %add: f32, %out: f32):
    %0 = arith.addf %in, %add : f32
    linalg.yield %0 : f32
  } -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}
