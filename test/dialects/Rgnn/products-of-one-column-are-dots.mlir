// RUN: drawloom-opt %s --decompose-graph --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lanes go along the rows, not along a column of one element: scores of rows, and the gradient of what they are made with.
// CHECK-LABEL: func.func @dots
// CHECK-NOT: linalg.contract
// CHECK: iterator_types = ["parallel", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<2x3xf64>, tensor<3xf64>) outs(%{{.*}} : tensor<2xf64>)
// CHECK-NOT: linalg.contract
// CHECK: iterator_types = ["parallel", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<2x3xf64>, tensor<2xf64>) outs(%{{.*}} : tensor<3xf64>)
func.func @dots(%x: tensor<4x3xf64>, %w: tensor<3x3x1xf64>, %c: tensor<5x1xf64>) -> (tensor<5x1xf64>, tensor<3x3x1xf64>) {
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
  %y = rgnn.linear %g, %x at dst, %w : tensor<4x3xf64>, tensor<3x3x1xf64> -> tensor<5x1xf64>
  %d = rgnn.outer %g, %x at dst, %c at dst_rel : tensor<4x3xf64>, tensor<5x1xf64> -> tensor<3x3x1xf64>
  return %y, %d : tensor<5x1xf64>, tensor<3x3x1xf64>
}

// The sum has a wider type than its factors.
// CHECK-LABEL: func.func @wider
// CHECK: outs(%{{.*}} : tensor<3xf64>)
func.func @wider(%x: tensor<4x3xf32>, %c: tensor<5x1xf32>) -> tensor<3x3x1xf64> {
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
  %d = rgnn.outer %g, %x at dst, %c at dst_rel : tensor<4x3xf32>, tensor<5x1xf32> -> tensor<3x3x1xf64>
  return %d : tensor<3x3x1xf64>
}
