// RUN: drawloom-opt %s --fuse-into-blocks --canonicalize --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#all = affine_map<(t, h, d) -> (t, h, d)>
#i = affine_map<(i) -> (i)>

// The rows of a head are written in another order, each once; their exponential is computed before they are.
// CHECK-LABEL: func.func @scattered
// CHECK: %[[Y:.*]] = scf.forall
// CHECK: scf.for
// CHECK: %[[TILE:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<2x4xf32>)
// CHECK: math.exp
// CHECK: block.scatter %[[TILE]]
// CHECK: return %[[Y]]
func.func @scattered(%x: tensor<8x2x4xf32>) -> tensor<8x2x4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %order = arith.constant dense<[3, 1, 0, 2, 7, 6, 4, 5]> : tensor<8xindex>
  %empty = tensor.empty() : tensor<8x2x4xf32>
  %y = scf.forall (%h) in (2) shared_outs(%whole = %empty) -> tensor<8x2x4xf32> {
    %own = tensor.extract_slice %x[0, %h, 0] [8, 1, 4] [1, 1, 1] : tensor<8x2x4xf32> to tensor<8x4xf32>
    %into = tensor.extract_slice %whole[0, %h, 0] [8, 1, 4] [1, 1, 1] : tensor<8x2x4xf32> to tensor<8x4xf32>
    %doubled = scf.for %at = %c0 to %c8 step %c2 iter_args(%so_far = %into) -> tensor<8x4xf32> {
      %tile = tensor.extract_slice %own[%at, 0] [2, 4] [1, 1] : tensor<8x4xf32> to tensor<2x4xf32>
      %twice = arith.addf %tile, %tile : tensor<2x4xf32>
      %rows = tensor.extract_slice %order[%at] [2] [1] : tensor<8xindex> to tensor<2xindex>
      %more = block.scatter %twice into %so_far[%rows] : tensor<2x4xf32> into tensor<8x4xf32>[tensor<2xindex>]
      scf.yield %more : tensor<8x4xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %doubled into %whole[0, %h, 0] [8, 1, 4] [1, 1, 1] : tensor<8x4xf32> into tensor<8x2x4xf32>
    }
  }
  %exp = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y : tensor<8x2x4xf32>) outs(%empty : tensor<8x2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = math.exp %in : f32
    linalg.yield %r : f32
  } -> tensor<8x2x4xf32>
  return %exp : tensor<8x2x4xf32>
}
