// RUN: drawloom-opt %s --fuse-rows | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rows of a block program that are returned under another shape are in memory as they are: no block copies them.
// CHECK-LABEL: func.func @returned(
// CHECK: %[[ROWS:.*]] = scf.forall
// CHECK: %[[VIEW:.*]] = tensor.expand_shape %[[ROWS]]
// CHECK: %[[SUM:.*]] = scf.forall
// CHECK-NOT: scf.forall (
// CHECK: return %[[VIEW]], %[[SUM]]
func.func @returned(%x: tensor<1024x64xf32>, %y: tensor<1024x64xf32>) -> (tensor<1024x4x16xf32>, tensor<1024x64xf32>) {
  %empty = tensor.empty() : tensor<1024x64xf32>
  %rows = scf.forall (%i) in (1024) shared_outs(%out = %empty) -> (tensor<1024x64xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 64] [1, 1] : tensor<1024x64xf32> to tensor<1x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %out[%i, 0] [1, 64] [1, 1] : tensor<1x64xf32> into tensor<1024x64xf32>
    }
  } {mapping = [#gpu.block<x>]}
  %heads = tensor.expand_shape %rows [[0], [1, 2]] output_shape [1024, 4, 16] : tensor<1024x64xf32> into tensor<1024x4x16xf32>
  %sum = linalg.add ins(%rows, %y : tensor<1024x64xf32>, tensor<1024x64xf32>) outs(%empty : tensor<1024x64xf32>) -> tensor<1024x64xf32>
  return %heads, %sum : tensor<1024x4x16xf32>, tensor<1024x64xf32>
}
