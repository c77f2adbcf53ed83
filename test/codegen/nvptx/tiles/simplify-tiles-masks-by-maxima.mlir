// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-simplify-tiles --verify-semantics | FileCheck %s

// The gradient of a maximum with zero: which numbers were greater than zero is read from the maximum, in the narrow type.
// CHECK-LABEL: func.func @f
// CHECK-SAME: %[[X:.*]]: tensor<16x64xbf16>, %[[G:.*]]: tensor<16x64xbf16>
// CHECK: %[[H:.*]] = arith.maximumf %[[X]], %[[ZERO:.*]] : tensor<16x64xbf16>
// CHECK: %[[MASK:.*]] = arith.cmpf une, %[[H]], %[[ZERO]] : tensor<16x64xbf16>
// CHECK: %[[D:.*]] = arith.select %[[MASK]], %[[G]], %{{.*}} : tensor<16x64xi1>, tensor<16x64xbf16>
// CHECK: return %[[H]], %[[D]]
func.func @f(%x: tensor<16x64xbf16>, %g: tensor<16x64xbf16>) -> (tensor<16x64xbf16>, tensor<16x64xbf16>) {
  %zero = arith.constant 0.0 : f32
  %zeros = tile.splat %zero : f32 -> tensor<16x64xf32>
  %wide = arith.extf %x : tensor<16x64xbf16> to tensor<16x64xf32>
  %positive = arith.cmpf ugt, %wide, %zeros : tensor<16x64xf32>
  %h = arith.select %positive, %wide, %zeros : tensor<16x64xi1>, tensor<16x64xf32>
  %y = arith.truncf %h : tensor<16x64xf32> to tensor<16x64xbf16>
  %cotangent = arith.extf %g : tensor<16x64xbf16> to tensor<16x64xf32>
  %d = arith.select %positive, %cotangent, %zeros : tensor<16x64xi1>, tensor<16x64xf32>
  %dx = arith.truncf %d : tensor<16x64xf32> to tensor<16x64xbf16>
  return %y, %dx : tensor<16x64xbf16>, tensor<16x64xbf16>
}

// The same where the gradient compares the maximum.
// CHECK-LABEL: func.func @of_result
// CHECK: %[[H:.*]] = arith.maximumf %{{.*}}, %[[ZERO:.*]] : tensor<16x64xbf16>
// CHECK-NOT: arith.extf
// CHECK: %[[MASK:.*]] = arith.cmpf une, %[[H]], %[[ZERO]] : tensor<16x64xbf16>
// CHECK: arith.select %[[MASK]]
func.func @of_result(%x: tensor<16x64xbf16>, %g: tensor<16x64xbf16>) -> (tensor<16x64xbf16>, tensor<16x64xbf16>) {
  %zero = arith.constant 0.0 : f32
  %narrow_zero = arith.constant 0.0 : bf16
  %zeros = tile.splat %zero : f32 -> tensor<16x64xf32>
  %narrow_zeros = tile.splat %narrow_zero : bf16 -> tensor<16x64xbf16>
  %y = arith.maximumf %x, %narrow_zeros : tensor<16x64xbf16>
  %wide = arith.extf %y : tensor<16x64xbf16> to tensor<16x64xf32>
  %positive = arith.cmpf ugt, %wide, %zeros : tensor<16x64xf32>
  %d = arith.select %positive, %g, %narrow_zeros : tensor<16x64xi1>, tensor<16x64xbf16>
  return %y, %d : tensor<16x64xbf16>, tensor<16x64xbf16>
}

// A gradient that passes at zero too compares what it was: of the maximum, zero
// says nothing about x. Integers hit zero.
// CHECK-LABEL: func.func @zero_included
// CHECK-SAME: %[[I:.*]]: tensor<16x64xi32>
// CHECK: %[[X:.*]] = arith.sitofp %[[I]]
// CHECK: %[[ZERO:.*]] = tile.splat
// CHECK: %[[MASK:.*]] = arith.cmpf uge, %[[X]], %[[ZERO]]
// CHECK: arith.select %[[MASK]]
func.func @zero_included(%i: tensor<16x64xi32>, %g: tensor<16x64xf32>) -> (tensor<16x64xf32>, tensor<16x64xf32>) {
  %x = arith.sitofp %i : tensor<16x64xi32> to tensor<16x64xf32>
  %zero = arith.constant 0.0 : f32
  %zeros = tile.splat %zero : f32 -> tensor<16x64xf32>
  %y = arith.maximumf %x, %zeros : tensor<16x64xf32>
  %not_negative = arith.cmpf uge, %x, %zeros : tensor<16x64xf32>
  %d = arith.select %not_negative, %g, %zeros : tensor<16x64xi1>, tensor<16x64xf32>
  return %y, %d : tensor<16x64xf32>, tensor<16x64xf32>
}
