// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --pass-pipeline='builtin.module(func.func(fuse-rows))' --verify-semantics | FileCheck %s

#rows = affine_map<(b, t, h, k) -> (b, t, h, k)>
#sums = affine_map<(b, t, h, k) -> (b, t, h)>
#each = affine_map<(b, t, h) -> (b, t, h)>

// Tokens are rows of the sums, but the reshape makes them of something longer.
// CHECK-LABEL: func.func @sums
// CHECK: %[[ALL:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2, 3]] output_shape [2, 2048, 2, 64]
// CHECK: scf.forall
// CHECK: tensor.extract_slice %[[ALL]]
func.func @sums(%x: tensor<4096x128xf32>) -> tensor<2x2048x2xf32> {
  %zero = arith.constant 0.0 : f32
  %x4 = tensor.expand_shape %x [[0, 1], [2, 3]] output_shape [2, 2048, 2, 64] : tensor<4096x128xf32> into tensor<2x2048x2x64xf32>
  %empty = tensor.empty() : tensor<2x2048x2xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x2048x2xf32>) -> tensor<2x2048x2xf32>
  %squares = linalg.generic {indexing_maps = [#rows, #sums], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x4 : tensor<2x2048x2x64xf32>) outs(%zeros : tensor<2x2048x2xf32>) {
  ^bb0(%a: f32, %s: f32):
    %p = arith.mulf %a, %a : f32
    %n = arith.addf %s, %p : f32
    linalg.yield %n : f32
  } -> tensor<2x2048x2xf32>
  %roots = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%squares : tensor<2x2048x2xf32>) outs(%empty : tensor<2x2048x2xf32>) {
  ^bb0(%a: f32, %s: f32):
    %r = math.sqrt %a : f32
    linalg.yield %r : f32
  } -> tensor<2x2048x2xf32>
  return %roots : tensor<2x2048x2xf32>
}
