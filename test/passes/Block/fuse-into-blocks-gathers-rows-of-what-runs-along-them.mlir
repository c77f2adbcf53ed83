// RUN: drawloom-opt %s --fuse-into-blocks --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#i = affine_map<(i) -> (i)>
#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>

// The rows of %p are columns of %x, which no gather reads: %p is made whole.
// CHECK-LABEL: func.func @transposed
// CHECK: %[[P:.*]] = linalg.generic
// CHECK: scf.forall
// CHECK: block.gather %[[P]]
func.func @transposed(%x: tensor<10x10xf32>, %rows: tensor<4xindex>) -> tensor<3x4x10xf32> {
  %empty = tensor.empty() : tensor<10x10xf32>
  %p = linalg.generic {indexing_maps = [#ji, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<10x10xf32>) outs(%empty : tensor<10x10xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %in : f32
    linalg.yield %r : f32
  } -> tensor<10x10xf32>
  %results = tensor.empty() : tensor<3x4x10xf32>
  %y = scf.forall (%b) in (3) shared_outs(%all = %results) -> tensor<3x4x10xf32> {
    %init = tensor.empty() : tensor<4x10xf32>
    %tile = block.gather %p[%rows] outs(%init) : tensor<10x10xf32>[tensor<4xindex>] -> tensor<4x10xf32>
    %twice = arith.addf %tile, %tile : tensor<4x10xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %twice into %all[%b, 0, 0] [1, 4, 10] [1, 1, 1] : tensor<4x10xf32> into tensor<3x4x10xf32>
    }
  }
  return %y : tensor<3x4x10xf32>
}
