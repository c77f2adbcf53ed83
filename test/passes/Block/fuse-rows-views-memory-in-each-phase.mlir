// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --linalg-generalize-named-ops --fuse-rows --canonicalize --verify-semantics | FileCheck %s

// The rows of x under another shape are in memory: the first phase, which multiplies them, hands out sums and no copy of them, and the second
// one, which needs the sums, views x again. What the second one returns is a result.

// CHECK-LABEL: func.func @two_phases
// CHECK-SAME: %[[X:.*]]: tensor<512x4x16xf32>
// CHECK: scf.forall {{.*}} shared_outs({{[^,]*}}) -> (tensor<{{[0-9]+}}x8xf32>)
// CHECK: tensor.extract_slice %[[X]]
// CHECK: tensor.collapse_shape
// CHECK: scf.forall {{.*}} shared_outs({{[^,]*}}) -> (tensor<512x64xf32>)
// CHECK: tensor.extract_slice %[[X]]
// CHECK: tensor.collapse_shape
func.func @two_phases(%x: tensor<512x4x16xf32>, %w: tensor<64x8xf32>) -> tensor<512x64xf32> {
  %zero = arith.constant 0.0 : f32
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<512x4x16xf32> into tensor<512x64xf32>
  %e = tensor.empty() : tensor<512x8xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<512x8xf32>) -> tensor<512x8xf32>
  %y = linalg.matmul ins(%flat, %w : tensor<512x64xf32>, tensor<64x8xf32>) outs(%s : tensor<512x8xf32>) -> tensor<512x8xf32>
  %f = tensor.empty() : tensor<8xf32>
  %t = linalg.fill ins(%zero : f32) outs(%f : tensor<8xf32>) -> tensor<8xf32>
  %sums = linalg.reduce { arith.addf } ins(%y : tensor<512x8xf32>) outs(%t : tensor<8xf32>) dimensions = [0]
  %g = tensor.empty() : tensor<64xf32>
  %u = linalg.fill ins(%zero : f32) outs(%g : tensor<64xf32>) -> tensor<64xf32>
  %row = linalg.matvec ins(%w, %sums : tensor<64x8xf32>, tensor<8xf32>) outs(%u : tensor<64xf32>) -> tensor<64xf32>
  %h = tensor.empty() : tensor<512x64xf32>
  %rows = linalg.broadcast ins(%row : tensor<64xf32>) outs(%h : tensor<512x64xf32>) dimensions = [0]
  %z = linalg.add ins(%flat, %rows : tensor<512x64xf32>, tensor<512x64xf32>) outs(%h : tensor<512x64xf32>) -> tensor<512x64xf32>
  return %z : tensor<512x64xf32>
}
