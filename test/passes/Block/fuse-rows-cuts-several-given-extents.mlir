// RUN: drawloom-opt %s --fuse-rows --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Two extents of the call. The width that both sums share has more work than
// each of them; both are cut, as they are where they are open.
// CHECK-LABEL: func.func @two
// CHECK: scf.forall
// CHECK: linalg.generic {{.*}} attrs = {drawloom.in_order}
// CHECK: scf.forall
// CHECK: linalg.generic {{.*}} attrs = {drawloom.in_order}
#rows = affine_map<(r, c) -> (r, c)>
#columns = affine_map<(r, c) -> (c)>
#c = affine_map<(c) -> (c)>
func.func @two(%x: tensor<15x1xf32> {drawloom.given_dims = array<i64: 0>}, %y: tensor<15x1xf32> {drawloom.given_dims = array<i64: 0>},
               %start: tensor<1xf32>) -> tensor<1xf32> attributes {drawloom.cut_as_open} {
  %a = linalg.generic {indexing_maps = [#rows, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<15x1xf32>) outs(%start : tensor<1xf32>) {
  ^bb0(%v: f32, %s: f32):
    %t = arith.addf %s, %v : f32
    linalg.yield %t : f32
  } -> tensor<1xf32>
  %b = linalg.generic {indexing_maps = [#rows, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%y : tensor<15x1xf32>) outs(%start : tensor<1xf32>) {
  ^bb0(%v: f32, %s: f32):
    %t = arith.addf %s, %v : f32
    linalg.yield %t : f32
  } -> tensor<1xf32>
  %empty = tensor.empty() : tensor<1xf32>
  %z = linalg.generic {indexing_maps = [#c, #c, #c], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<1xf32>, tensor<1xf32>) outs(%empty : tensor<1xf32>) {
  ^bb0(%v: f32, %w: f32, %old: f32):
    %p = arith.mulf %v, %w : f32
    linalg.yield %p : f32
  } -> tensor<1xf32>
  return %z : tensor<1xf32>
}
