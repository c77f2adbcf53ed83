// RUN: drawloom-opt %s --differentiate | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @layer(%x: tensor<9x24xf32>, %w: tensor<24x16xf32>, %a: tensor<24x4xf32>, %b: tensor<4x16xf32>) -> tensor<9x16xf32> {
  %y = slr.linear %x(%w, %a, %b) {
  ^bb0(%w0: tensor<24x16xf32>, %a0: tensor<24x4xf32>, %b0: tensor<4x16xf32>):
    %0 = slr.dense %w0 : tensor<24x16xf32>
    %1 = slr.dense %a0 : tensor<24x4xf32>
    %2 = slr.dense %b0 : tensor<4x16xf32>
    %3 = slr.product %1, %2 : !slr.term<24x4>, !slr.term<4x16>
    %4 = slr.sum %0, %3 : !slr.term<24x16>, !slr.term<24x16>
    slr.yield %4 : !slr.term<24x16>
  } : tensor<9x24xf32>, (tensor<24x16xf32>, tensor<24x4xf32>, tensor<4x16xf32>) -> tensor<9x16xf32>
  return %y : tensor<9x16xf32>
}

// Of a frozen matrix with an adapter: nothing has the extents of the matrix.
// CHECK-LABEL: func.func @adapter
// CHECK-NOT: -> tensor<24x16xf32>
// CHECK: -> tensor<24x4xf32>
// CHECK-NOT: -> tensor<24x16xf32>
// CHECK: return
func.func @adapter(%x: tensor<9x24xf32>, %w: tensor<24x16xf32>, %a: tensor<24x4xf32>, %b: tensor<4x16xf32>, %g: tensor<9x16xf32>)
    -> (tensor<24x4xf32>, tensor<4x16xf32>) {
  %y, %da, %db = ad.vjp @layer(%x, %w, %a, %b) cotangents(%g) wrt [2, 3]
      : (tensor<9x24xf32>, tensor<24x16xf32>, tensor<24x4xf32>, tensor<4x16xf32>) -> (tensor<9x16xf32>, tensor<24x4xf32>, tensor<4x16xf32>)
  return %da, %db : tensor<24x4xf32>, tensor<4x16xf32>
}

// Of the second factor alone: x is not read but for what the first one gives.
// CHECK-LABEL: func.func @second_factor
// CHECK-COUNT-1: ins(%arg0,
// CHECK-NOT: %arg0
// CHECK: return
func.func @second_factor(%x: tensor<9x24xf32>, %w: tensor<24x16xf32>, %a: tensor<24x4xf32>, %b: tensor<4x16xf32>, %g: tensor<9x16xf32>) -> tensor<4x16xf32> {
  %y, %db = ad.vjp @layer(%x, %w, %a, %b) cotangents(%g) wrt [3]
      : (tensor<9x24xf32>, tensor<24x16xf32>, tensor<24x4xf32>, tensor<4x16xf32>) -> (tensor<9x16xf32>, tensor<4x16xf32>)
  return %db : tensor<4x16xf32>
}
