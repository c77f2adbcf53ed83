// RUN: drawloom-opt %s --canonicalize | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception


// CHECK-LABEL: func.func @zeros
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x64x4x8xf32>
func.func @zeros(%x: tensor<2x64x4x8xf32>) -> (tensor<2x64x4x8xf32>, tensor<2x4x8x8xf32>) {
  %g = arith.constant dense<0.0> : tensor<2x64x4x8xf32>
  %s = arith.constant dense<0.0> : tensor<2x4x8x8xf32>
  // CHECK: linrec.scan %[[X]], %[[X]], %[[X]] :
  %o, %final = linrec.scan %x, %x, %x decay(%g) erase(%x) lowrank(%g) initial(%s) {erase_before_decay}
      : (tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>, tensor<2x64x4x8xf32>, tensor<2x4x8x8xf32>)
      -> (tensor<2x64x4x8xf32>, tensor<2x4x8x8xf32>)
  return %o, %final : tensor<2x64x4x8xf32>, tensor<2x4x8x8xf32>
}
