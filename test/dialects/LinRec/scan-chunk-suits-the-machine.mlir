// RUN: drawloom-opt %s --decompose-graph -o - | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

module attributes {drawloom.machine = {product_rows = 16 : i64}} {

// Products of 16 rows are fast: decays of tokens go forward 16 tokens at a time.
// CHECK-LABEL: @of_tokens(
// CHECK: arith.constant 16 : index
// CHECK: tensor<16x8xf32>
// CHECK-NOT: tensor<32x8xf32>
// CHECK: return
func.func @of_tokens(%q: tensor<1x64x2x8xf32>, %v: tensor<1x64x2x4xf32>, %g: tensor<1x64x2xf32>) -> tensor<1x64x2x4xf32> {
  %0:2 = linrec.scan %q, %q, %v decay(%g)
      : (tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x4xf32>, tensor<1x64x2xf32>)
      -> (tensor<1x64x2x4xf32>, tensor<1x2x8x4xf32>)
  return %0#0 : tensor<1x64x2x4xf32>
}

// Those of keys 32, and where the op says 48, 48.
// CHECK-LABEL: @of_keys(
// CHECK: tensor<32x8xf32>
// CHECK: return
func.func @of_keys(%q: tensor<1x64x2x8xf32>, %v: tensor<1x64x2x4xf32>, %g: tensor<1x64x2x8xf32>) -> tensor<1x64x2x4xf32> {
  %0:2 = linrec.scan %q, %q, %v decay(%g)
      : (tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x4xf32>, tensor<1x64x2x8xf32>)
      -> (tensor<1x64x2x4xf32>, tensor<1x2x8x4xf32>)
  return %0#0 : tensor<1x64x2x4xf32>
}

// CHECK-LABEL: @as_it_says(
// CHECK: tensor<48x8xf32>
// CHECK: return
func.func @as_it_says(%q: tensor<1x96x2x8xf32>, %v: tensor<1x96x2x4xf32>, %g: tensor<1x96x2xf32>) -> tensor<1x96x2x4xf32> {
  %0:2 = linrec.scan %q, %q, %v decay(%g) {chunk = 48}
      : (tensor<1x96x2x8xf32>, tensor<1x96x2x8xf32>, tensor<1x96x2x4xf32>, tensor<1x96x2xf32>)
      -> (tensor<1x96x2x4xf32>, tensor<1x2x8x4xf32>)
  return %0#0 : tensor<1x96x2x4xf32>
}

// A bound that 32 decays in a row would make too strong, but 16 not: no chunk needs to be looked at.
// CHECK-LABEL: @bounded(
// CHECK-NOT: scf.if
// CHECK: tensor<16x8xf32>
// CHECK-NOT: scf.if
// CHECK: return
func.func @bounded(%q: tensor<1x64x2x8xf32>, %v: tensor<1x64x2x4xf32>, %g: tensor<1x64x2x8xf32>) -> tensor<1x64x2x4xf32> {
  %0:2 = linrec.scan %q, %q, %v decay(%g) {decay_bound = -5.0}
      : (tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x4xf32>, tensor<1x64x2x8xf32>)
      -> (tensor<1x64x2x4xf32>, tensor<1x2x8x4xf32>)
  return %0#0 : tensor<1x64x2x4xf32>
}

}
