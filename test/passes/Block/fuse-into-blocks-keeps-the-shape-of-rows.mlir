// RUN: drawloom-opt %s --fuse-into-blocks --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A block reads rows of two dimensions, which have one before the reshape.
// CHECK-LABEL: @rows
// CHECK: linalg.generic
// CHECK: tensor.expand_shape
// CHECK: scf.forall
// CHECK: tensor.extract_slice %{{.*}} : tensor<20x2x3xf32> to tensor<2x3xf32>
#e = affine_map<(i, j) -> (i, j)>
func.func @rows(%x: tensor<20x6xf32>) -> tensor<20x2x3xf32> {
  %empty = tensor.empty() : tensor<20x6xf32>
  %y = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<20x6xf32>) outs(%empty : tensor<20x6xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %a : f32
    linalg.yield %c : f32
  } -> tensor<20x6xf32>
  %rows = tensor.expand_shape %y [[0], [1, 2]] output_shape [20, 2, 3] : tensor<20x6xf32> into tensor<20x2x3xf32>
  %out = tensor.empty() : tensor<20x2x3xf32>
  %z = scf.forall (%i) in (20) shared_outs(%o = %out) -> (tensor<20x2x3xf32>) {
    %row = tensor.extract_slice %rows[%i, 0, 0] [1, 2, 3] [1, 1, 1] : tensor<20x2x3xf32> to tensor<2x3xf32>
    %place = tensor.empty() : tensor<2x3xf32>
    %negated = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%row : tensor<2x3xf32>) outs(%place : tensor<2x3xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.negf %a : f32
      linalg.yield %c : f32
    } -> tensor<2x3xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %negated into %o[%i, 0, 0] [1, 2, 3] [1, 1, 1] : tensor<2x3xf32> into tensor<20x2x3xf32>
    }
  }
  return %z : tensor<20x2x3xf32>
}
