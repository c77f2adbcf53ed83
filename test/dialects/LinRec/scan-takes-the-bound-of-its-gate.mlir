// RUN: drawloom-opt %s --canonicalize | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception


// CHECK-LABEL: func.func @bounded
func.func @bounded(%x: tensor<2x64x4x8xf32>) -> (tensor<2x64x4x8xf32>, tensor<2x4x8x8xf32>) {
  %g = linrec.gate bounded %x {limit = 5.0} : (tensor<2x64x4x8xf32>) -> tensor<2x64x4x8xf32>
  // CHECK: linrec.scan {{.*}} {decay_bound = -5.000000e+00 : f64}
  %o, %final = linrec.scan %x, %x, %x decay(%g) : (tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>) -> (tensor<2x64x4x8xf32>, tensor<2x4x8x8xf32>)
  return %o, %final : tensor<2x64x4x8xf32>, tensor<2x4x8x8xf32>
}

// What only arranges elements is looked through.
// CHECK-LABEL: func.func @arranged
func.func @arranged(%x: tensor<2x64x4x8xf32>, %y: tensor<2x64x32xf32>) -> tensor<2x64x4x8xf32> {
  %0 = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [2, 64, 32, 1] : tensor<2x64x32xf32> into tensor<2x64x32x1xf32>
  %1 = linrec.gate floored %0 {floor = 0.5} : (tensor<2x64x32x1xf32>) -> tensor<2x64x32x1xf32>
  %2 = tensor.collapse_shape %1 [[0], [1], [2, 3]] : tensor<2x64x32x1xf32> into tensor<2x64x32xf32>
  %g = tensor.expand_shape %2 [[0], [1], [2, 3]] output_shape [2, 64, 4, 8] : tensor<2x64x32xf32> into tensor<2x64x4x8xf32>
  // CHECK: linrec.scan {{.*}} {decay_bound = -0.69314718055994529 : f64}
  %o, %final = linrec.scan %x, %x, %x decay(%g) : (tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>) -> (tensor<2x64x4x8xf32>, tensor<2x4x8x8xf32>)
  return %o : tensor<2x64x4x8xf32>
}

// CHECK-LABEL: func.func @gradient
func.func @gradient(%x: tensor<2x64x4x8xf32>) -> tensor<2x64x4x8xf32> {
  %g = linrec.gate bounded %x {limit = 5.0} : (tensor<2x64x4x8xf32>) -> tensor<2x64x4x8xf32>
  // CHECK: linrec.scan_bwd {{.*}} {decay_bound = -5.000000e+00 : f64}
  %d:4 = linrec.scan_bwd %x, %x, %x decay(%g) cotangents(%x)
      : (tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>)
      -> (tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>)
  return %d#3 : tensor<2x64x4x8xf32>
}

// CHECK-LABEL: func.func @constant
func.func @constant(%x: tensor<2x64x2x8xf32>) -> tensor<2x64x2x8xf32> {
  %g = arith.constant dense<[-0.5, -0.25]> : tensor<2xf32>
  // CHECK: linrec.scan {{.*}} {decay_bound = -5.000000e-01 : f64}
  %o, %final = linrec.scan %x, %x, %x decay(%g) : (tensor<2x64x2x8xf32>, tensor<2x64x2x8xf32>, tensor<2x64x2x8xf32>, tensor<2xf32>) -> (tensor<2x64x2x8xf32>, tensor<2x2x8x8xf32>)
  return %o : tensor<2x64x2x8xf32>
}

// Nothing bounds these, and a bound that is said stays.
// CHECK-LABEL: func.func @open
func.func @open(%x: tensor<2x64x4x8xf32>, %h: tensor<2x64x4x8xf32>) -> (tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>) {
  %g = linrec.gate softplus %x : (tensor<2x64x4x8xf32>) -> tensor<2x64x4x8xf32>
  // CHECK: linrec.scan
  // CHECK-NOT: decay_bound
  %o, %final = linrec.scan %x, %x, %x decay(%g) : (tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>) -> (tensor<2x64x4x8xf32>, tensor<2x4x8x8xf32>)
  %k = linrec.gate bounded %x {limit = 5.0} : (tensor<2x64x4x8xf32>) -> tensor<2x64x4x8xf32>
  // CHECK: linrec.scan {{.*}} {decay_bound = -1.000000e+00 : f64}
  %p, %last = linrec.scan %x, %x, %x decay(%k) {decay_bound = -1.0} : (tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>) -> (tensor<2x64x4x8xf32>, tensor<2x4x8x8xf32>)
  return %o, %p : tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>
}
