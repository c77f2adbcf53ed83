// RUN: drawloom-opt %s --rgnn-form-sweeps --decompose-graph --verify-semantics -o /dev/null
// RUN: drawloom-opt %s --rgnn-form-sweeps --decompose-graph=lockstep=true --verify-semantics | FileCheck %s --check-prefix=LOCKSTEP
// RUN: drawloom-opt %s --rgnn-form-sweeps | FileCheck %s
// RUN: drawloom-opt %s --rgnn-form-sweeps --remarks-filter=rgnn-form-sweeps 2>&1 | FileCheck %s --check-prefix=REMARK

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sums of edges, products and sums at nodes: nothing of the pairs is stored. What
// somebody else reads is.
// REMARK: remark: [Passed] Swept | Category:rgnn-form-sweeps | ops=3, results=1
// In lockstep, edges of both pairs of a tile are gathered together, and both pairs' products added to rows that are gathered and put back.
// LOCKSTEP-LABEL: @layer
// LOCKSTEP: scf.forall
// LOCKSTEP: block.gather {{.*}} -> tensor<2x3xf64>
// LOCKSTEP: linalg.contract
// LOCKSTEP: block.gather {{.*}} : tensor<?x2xf64>[tensor<2xi32>] -> tensor<2x2xf64>
// LOCKSTEP: block.scatter {{.*}} : tensor<2x2xf64> into tensor<?x2xf64>
// CHECK-LABEL: @layer
// CHECK: %[[Y:.*]] = rgnn.sweep {
// CHECK: rgnn.traverse %{{.*}} over edge
// CHECK: rgnn.linear
// CHECK: %[[S:.*]] = rgnn.traverse %{{.*}} over dst_rel
// CHECK: rgnn.yield %[[S]]
// CHECK: } : tensor<4x2xf64>
// CHECK: return %[[Y]]
func.func @layer(%x: tensor<7x3xf64>, %w: tensor<3x3x2xf64>, %c: tensor<5xf64>) -> tensor<4x2xf64> {
  // 7 sources, of which 3 and 6 have no edge, 4 targets, of which 2 has none, and 3 relations,
  // of which 1 has none; edges 1 and 2 are parallel.
  %in_node_pairs = arith.constant dense<[0, 1, 3, 3, 5]> : tensor<5xi32>
  %in_pair_relation = arith.constant dense<[0, 0, 2, 0, 2]> : tensor<5xi32>
  %in_pair_edges = arith.constant dense<[0, 3, 4, 5, 7, 9]> : tensor<6xi32>
  %in_far = arith.constant dense<[0, 1, 1, 2, 4, 2, 5, 0, 4]> : tensor<9xi32>
  %in_far_pair = arith.constant dense<[0, 2, 2, 3, 4, 3, 5, 1, 4]> : tensor<9xi32>
  %in_block_tiles = arith.constant dense<[0, 2, 4]> : tensor<3xi32>
  %in_tile_relation = arith.constant dense<[0, 2, 0, 2]> : tensor<4xi32>
  %in_tile_pair = arith.constant dense<[[0, 1], [2, -1], [3, -1], [4, -1]]> : tensor<4x2xi32>
  %in_tile_node = arith.constant dense<[[0, 1], [1, -1], [3, -1], [3, -1]]> : tensor<4x2xi32>
  %out_node_pairs = arith.constant dense<[0, 2, 3, 4, 4, 5, 6, 6]> : tensor<8xi32>
  %out_pair_relation = arith.constant dense<[0, 2, 0, 0, 2, 0]> : tensor<6xi32>
  %out_pair_edges = arith.constant dense<[0, 1, 2, 4, 6, 8, 9]> : tensor<7xi32>
  %out_far = arith.constant dense<[0, 3, 0, 0, 1, 3, 1, 3, 3]> : tensor<9xi32>
  %out_far_pair = arith.constant dense<[0, 4, 0, 0, 1, 3, 2, 4, 3]> : tensor<9xi32>
  %out_block_tiles = arith.constant dense<[0, 2, 3, 5, 5]> : tensor<5xi32>
  %out_tile_relation = arith.constant dense<[0, 2, 0, 0, 2]> : tensor<5xi32>
  %out_tile_pair = arith.constant dense<[[0, 2], [1, -1], [3, -1], [5, -1], [4, -1]]> : tensor<5x2xi32>
  %out_tile_node = arith.constant dense<[[0, 1], [0, -1], [2, -1], [5, -1], [4, -1]]> : tensor<5x2xi32>
  %out_edge = arith.constant dense<[0, 7, 1, 2, 3, 5, 4, 8, 6]> : tensor<9xi32>
  %g = rgnn.graph incoming(%in_node_pairs, %in_pair_relation, %in_pair_edges, %in_far, %in_far_pair, %in_block_tiles, %in_tile_relation, %in_tile_pair, %in_tile_node
      : tensor<5xi32>, tensor<5xi32>, tensor<6xi32>, tensor<9xi32>, tensor<9xi32>, tensor<3xi32>, tensor<4xi32>, tensor<4x2xi32>, tensor<4x2xi32>)
    outgoing(%out_node_pairs, %out_pair_relation, %out_pair_edges, %out_far, %out_far_pair, %out_block_tiles, %out_tile_relation, %out_tile_pair, %out_tile_node, %out_edge
      : tensor<8xi32>, tensor<6xi32>, tensor<7xi32>, tensor<9xi32>, tensor<9xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5x2xi32>, tensor<5x2xi32>, tensor<9xi32>)
    {relations = 3, rows_per_block = 2}
  %a = rgnn.traverse %g over edge (%x at src : tensor<7x3xf64>) -> (tensor<5x3xf64> at dst_rel by sum) {
  ^bb0(%u: tensor<3xf64>):
    rgnn.yield %u : tensor<3xf64>
  }
  %m = rgnn.linear %g, %a at dst_rel, %w : tensor<5x3xf64>, tensor<3x3x2xf64> -> tensor<5x2xf64>
  %y = rgnn.traverse %g over dst_rel (%m at dst_rel : tensor<5x2xf64>, %c at dst_rel : tensor<5xf64>) -> (tensor<4x2xf64> at dst by sum) {
  ^bb0(%p: tensor<2xf64>, %k: f64):
    %all = tensor.splat %k : tensor<2xf64>
    %q = arith.mulf %p, %all : tensor<2xf64>
    rgnn.yield %q : tensor<2xf64>
  }
  return %y : tensor<4x2xf64>
}

// CHECK-LABEL: @read_twice
// CHECK: %[[A:.*]] = rgnn.traverse %{{.*}} over edge
// CHECK: rgnn.sweep {
// CHECK-NEXT: rgnn.linear %{{.*}}, %[[A]]
func.func @read_twice(%x: tensor<7x3xf64>, %w: tensor<3x3x2xf64>) -> (tensor<4x2xf64>, tensor<5x3xf64>) {
  // 7 sources, of which 3 and 6 have no edge, 4 targets, of which 2 has none, and 3 relations,
  // of which 1 has none; edges 1 and 2 are parallel.
  %in_node_pairs = arith.constant dense<[0, 1, 3, 3, 5]> : tensor<5xi32>
  %in_pair_relation = arith.constant dense<[0, 0, 2, 0, 2]> : tensor<5xi32>
  %in_pair_edges = arith.constant dense<[0, 3, 4, 5, 7, 9]> : tensor<6xi32>
  %in_far = arith.constant dense<[0, 1, 1, 2, 4, 2, 5, 0, 4]> : tensor<9xi32>
  %in_far_pair = arith.constant dense<[0, 2, 2, 3, 4, 3, 5, 1, 4]> : tensor<9xi32>
  %in_block_tiles = arith.constant dense<[0, 2, 4]> : tensor<3xi32>
  %in_tile_relation = arith.constant dense<[0, 2, 0, 2]> : tensor<4xi32>
  %in_tile_pair = arith.constant dense<[[0, 1], [2, -1], [3, -1], [4, -1]]> : tensor<4x2xi32>
  %in_tile_node = arith.constant dense<[[0, 1], [1, -1], [3, -1], [3, -1]]> : tensor<4x2xi32>
  %out_node_pairs = arith.constant dense<[0, 2, 3, 4, 4, 5, 6, 6]> : tensor<8xi32>
  %out_pair_relation = arith.constant dense<[0, 2, 0, 0, 2, 0]> : tensor<6xi32>
  %out_pair_edges = arith.constant dense<[0, 1, 2, 4, 6, 8, 9]> : tensor<7xi32>
  %out_far = arith.constant dense<[0, 3, 0, 0, 1, 3, 1, 3, 3]> : tensor<9xi32>
  %out_far_pair = arith.constant dense<[0, 4, 0, 0, 1, 3, 2, 4, 3]> : tensor<9xi32>
  %out_block_tiles = arith.constant dense<[0, 2, 3, 5, 5]> : tensor<5xi32>
  %out_tile_relation = arith.constant dense<[0, 2, 0, 0, 2]> : tensor<5xi32>
  %out_tile_pair = arith.constant dense<[[0, 2], [1, -1], [3, -1], [5, -1], [4, -1]]> : tensor<5x2xi32>
  %out_tile_node = arith.constant dense<[[0, 1], [0, -1], [2, -1], [5, -1], [4, -1]]> : tensor<5x2xi32>
  %out_edge = arith.constant dense<[0, 7, 1, 2, 3, 5, 4, 8, 6]> : tensor<9xi32>
  %g = rgnn.graph incoming(%in_node_pairs, %in_pair_relation, %in_pair_edges, %in_far, %in_far_pair, %in_block_tiles, %in_tile_relation, %in_tile_pair, %in_tile_node
      : tensor<5xi32>, tensor<5xi32>, tensor<6xi32>, tensor<9xi32>, tensor<9xi32>, tensor<3xi32>, tensor<4xi32>, tensor<4x2xi32>, tensor<4x2xi32>)
    outgoing(%out_node_pairs, %out_pair_relation, %out_pair_edges, %out_far, %out_far_pair, %out_block_tiles, %out_tile_relation, %out_tile_pair, %out_tile_node, %out_edge
      : tensor<8xi32>, tensor<6xi32>, tensor<7xi32>, tensor<9xi32>, tensor<9xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5x2xi32>, tensor<5x2xi32>, tensor<9xi32>)
    {relations = 3, rows_per_block = 2}
  %a = rgnn.traverse %g over edge (%x at src : tensor<7x3xf64>) -> (tensor<5x3xf64> at dst_rel by sum) {
  ^bb0(%u: tensor<3xf64>):
    rgnn.yield %u : tensor<3xf64>
  }
  %m = rgnn.linear %g, %a at dst_rel, %w : tensor<5x3xf64>, tensor<3x3x2xf64> -> tensor<5x2xf64>
  %y = rgnn.traverse %g over dst_rel (%m at dst_rel : tensor<5x2xf64>) -> (tensor<4x2xf64> at dst by sum) {
  ^bb0(%p: tensor<2xf64>):
    rgnn.yield %p : tensor<2xf64>
  }
  return %y, %a : tensor<4x2xf64>, tensor<5x3xf64>
}
