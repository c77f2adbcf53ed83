// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-simplify-tiles --verify-semantics | FileCheck %s

// A product of tensor cores starts from what it is added to; f32 products keep the order of their sums, and what is the same in all rows
// is added behind.
// CHECK-LABEL: func.func @sum
// CHECK: %[[SCALED:.*]] = arith.mulf
// CHECK: %[[SUM:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[SCALED]]
// CHECK-NOT: arith.addf
// CHECK: return %[[SUM]]
func.func @sum(%a: tensor<64x32xbf16>, %b: tensor<32x64xbf16>, %x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros = tile.splat %zero : f32 -> tensor<64x64xf32>
  %d = tile.dot %a, %b, %zeros : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
  %scaled = arith.mulf %x, %y : tensor<64x64xf32>
  %sum = arith.addf %scaled, %d : tensor<64x64xf32>
  return %sum : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @bias
// CHECK: tile.dot
// CHECK: arith.addf
func.func @bias(%a: tensor<64x32xbf16>, %b: tensor<32x64xbf16>, %x: tensor<64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros = tile.splat %zero : f32 -> tensor<64x64xf32>
  %d = tile.dot %a, %b, %zeros : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
  %rows = tile.broadcast %x along [1] : tensor<64xf32> -> tensor<64x64xf32>
  %sum = arith.addf %d, %rows : tensor<64x64xf32>
  return %sum : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @exact
// CHECK: tile.dot
// CHECK: arith.addf
func.func @exact(%a: tensor<64x32xf32>, %b: tensor<32x64xf32>, %x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros = tile.splat %zero : f32 -> tensor<64x64xf32>
  %d = tile.dot %a, %b, %zeros : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>
  %sum = arith.addf %d, %x : tensor<64x64xf32>
  return %sum : tensor<64x64xf32>
}
