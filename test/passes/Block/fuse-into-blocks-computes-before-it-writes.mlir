// RUN: drawloom-opt %s --fuse-into-blocks --canonicalize --verify-semantics | FileCheck %s
// RUN: drawloom-opt %s --fuse-into-blocks --verify-semantics -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#all = affine_map<(t, h, d) -> (t, h, d)>
#row = affine_map<(t, h, d) -> (t, h)>
#last = affine_map<(t, h, d) -> (d)>

// Rows are divided by their sums and multiplied by weights, of each head, while it has them. The weights are made before.
// CHECK-LABEL: func.func @normalized
// CHECK: %[[W:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<4xf32>)
// CHECK: %[[Y:.*]] = scf.forall
// CHECK: scf.for
// CHECK: %[[TWICE:[0-9]+]] = linalg.generic {{.*}} ins(%{{[^,]*}} : tensor<2x4xf32>)
// CHECK: arith.addf
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}"parallel", "reduction"]} ins(%[[TWICE]] : tensor<2x4xf32>)
// CHECK: %[[TILE:.*]] = linalg.generic {{.*}} ins(%[[TWICE]], %[[SUM]], %[[W]] :
// CHECK: tensor.insert_slice %[[TILE]]
// CHECK: return %[[Y]]
func.func @normalized(%x: tensor<8x2x4xf32>, %w: tensor<4xf32>) -> tensor<8x2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %empty = tensor.empty() : tensor<8x2x4xf32>
  %y = scf.forall (%h) in (2) shared_outs(%whole = %empty) -> tensor<8x2x4xf32> {
    %own = tensor.extract_slice %x[0, %h, 0] [8, 1, 4] [1, 1, 1] : tensor<8x2x4xf32> to tensor<8x4xf32>
    %into = tensor.extract_slice %whole[0, %h, 0] [8, 1, 4] [1, 1, 1] : tensor<8x2x4xf32> to tensor<8x4xf32>
    %doubled = scf.for %at = %c0 to %c8 step %c2 iter_args(%so_far = %into) -> tensor<8x4xf32> {
      %tile = tensor.extract_slice %own[%at, 0] [2, 4] [1, 1] : tensor<8x4xf32> to tensor<2x4xf32>
      %twice = arith.addf %tile, %tile : tensor<2x4xf32>
      %more = tensor.insert_slice %twice into %so_far[%at, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<8x4xf32>
      scf.yield %more : tensor<8x4xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %doubled into %whole[0, %h, 0] [8, 1, 4] [1, 1, 1] : tensor<8x4xf32> into tensor<8x2x4xf32>
    }
  }
  %four = tensor.empty() : tensor<4xf32>
  %exp = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%w : tensor<4xf32>) outs(%four : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = math.exp %in : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %rows = tensor.empty() : tensor<8x2xf32>
  %start = linalg.fill ins(%zero : f32) outs(%rows : tensor<8x2xf32>) -> tensor<8x2xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%y : tensor<8x2x4xf32>) outs(%start : tensor<8x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %more = arith.addf %out, %in : f32
    linalg.yield %more : f32
  } -> tensor<8x2xf32>
  %scaled = linalg.generic {indexing_maps = [#all, #row, #last, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y, %sum, %exp : tensor<8x2x4xf32>, tensor<8x2xf32>, tensor<4xf32>) outs(%empty : tensor<8x2x4xf32>) {
  ^bb0(%in: f32, %s: f32, %weight: f32, %out: f32):
    %q = arith.divf %in, %s : f32
    %r = arith.mulf %q, %weight : f32
    linalg.yield %r : f32
  } -> tensor<8x2x4xf32>
  return %scaled : tensor<8x2x4xf32>
}

// A sum over what different blocks write needs all of it, and so does the caller.
// CHECK-LABEL: func.func @read_whole
// CHECK: %[[Y:.*]] = scf.forall
// CHECK-NOT: arith.negf
// CHECK: scf.forall.in_parallel
// CHECK: %[[SUM:.*]] = linalg.generic
// CHECK: linalg.generic {{.*}} ins(%[[Y]], %[[SUM]]
// CHECK: arith.negf
func.func @read_whole(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x4xf32>
  %y = scf.forall (%i) in (8) shared_outs(%whole = %empty) -> tensor<8x4xf32> {
    %row = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<1x4xf32>
    %twice = arith.addf %row, %row : tensor<1x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %twice into %whole[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
    }
  }
  %four = tensor.empty() : tensor<4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%four : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%y : tensor<8x4xf32>) outs(%start : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %more = arith.addf %out, %in : f32
    linalg.yield %more : f32
  } -> tensor<4xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%y, %sum : tensor<8x4xf32>, tensor<4xf32>) outs(%empty : tensor<8x4xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %n = arith.negf %in : f32
    %r = arith.mulf %n, %s : f32
    linalg.yield %r : f32
  } -> tensor<8x4xf32>
  return %z : tensor<8x4xf32>
}
