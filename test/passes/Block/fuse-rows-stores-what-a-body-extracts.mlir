// RUN: drawloom-opt %s --fuse-rows --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The body reads the diagonal of its own operand: another row than the tile's, so the blocks before store all of it.
// CHECK-LABEL: func.func @diagonal
// CHECK: %[[A:.*]] = scf.forall
// CHECK: math.exp
// CHECK: scf.forall
// CHECK: tensor.extract %[[A]]
#ij = affine_map<(i, j) -> (i, j)>
func.func @diagonal(%x: tensor<128x32xf32>) -> tensor<128x32xf32> {
  %empty = tensor.empty() : tensor<128x32xf32>
  %a = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<128x32xf32>) outs(%empty : tensor<128x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = math.exp %in : f32
    linalg.yield %r : f32
  } -> tensor<128x32xf32>
  %b = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<128x32xf32>) outs(%empty : tensor<128x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %k = linalg.index 1 : index
    %d = tensor.extract %a[%k, %k] : tensor<128x32xf32>
    %sum = arith.addf %in, %d : f32
    linalg.yield %sum : f32
  } -> tensor<128x32xf32>
  return %b : tensor<128x32xf32>
}
