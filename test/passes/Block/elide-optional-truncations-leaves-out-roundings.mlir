// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --elide-optional-truncations --verify-semantics | FileCheck %s

#ij = affine_map<(i, j) -> (i, j)>
#ik = affine_map<(i, j, k) -> (i, k)>
#jk = affine_map<(i, j, k) -> (j, k)>
#out = affine_map<(i, j, k) -> (i, j)>

// A product of a tile with itself, and an op that widens it: both take the digits that were there.
// CHECK-LABEL: @optional(
// CHECK: %[[TILE:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<16x16xf32>)
// CHECK-NOT: arith.truncf
// CHECK: linalg.contract {{.*}} ins(%[[TILE]], %[[TILE]] : tensor<16x16xf32>, tensor<16x16xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[TILE]], %{{.*}} : tensor<16x16xf32>, tensor<16x16xf32>)
// CHECK-NOT: arith.extf
// CHECK: return
func.func @optional(%x: tensor<16x16xf32>, %sum: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %narrow = tensor.empty() : tensor<16x16xbf16>
  %tile = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<16x16xf32>) outs(%narrow : tensor<16x16xbf16>) {
  ^bb0(%e: f32, %o: bf16):
    %twice = arith.addf %e, %e : f32
    %r = arith.truncf %twice fastmath<contract> : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<16x16xbf16>
  %p = linalg.contract indexing_maps = [#ik, #jk, #out] ins(%tile, %tile : tensor<16x16xbf16>, tensor<16x16xbf16>)
      outs(%sum : tensor<16x16xf32>) -> tensor<16x16xf32>
  %wide = tensor.empty() : tensor<16x16xf32>
  %y = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%tile, %p : tensor<16x16xbf16>, tensor<16x16xf32>) outs(%wide : tensor<16x16xf32>) {
  ^bb0(%e: bf16, %q: f32, %o: f32):
    %w = arith.extf %e : bf16 to f32
    %s = arith.addf %w, %q : f32
    linalg.yield %s : f32
  } -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}

// Without the flag, or where the tile itself is a result, it is rounded.
// CHECK-LABEL: @wanted(
// CHECK: arith.truncf
// CHECK: arith.truncf
func.func @wanted(%x: tensor<16x16xf32>, %sum: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xbf16>) {
  %narrow = tensor.empty() : tensor<16x16xbf16>
  %a = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<16x16xf32>) outs(%narrow : tensor<16x16xbf16>) {
  ^bb0(%e: f32, %o: bf16):
    %r = arith.truncf %e : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<16x16xbf16>
  %b = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<16x16xf32>) outs(%narrow : tensor<16x16xbf16>) {
  ^bb0(%e: f32, %o: bf16):
    %r = arith.truncf %e fastmath<contract> : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<16x16xbf16>
  %p = linalg.contract indexing_maps = [#ik, #jk, #out] ins(%a, %b : tensor<16x16xbf16>, tensor<16x16xbf16>)
      outs(%sum : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %p, %b : tensor<16x16xf32>, tensor<16x16xbf16>
}
