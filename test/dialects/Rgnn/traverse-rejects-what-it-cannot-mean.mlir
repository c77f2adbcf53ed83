// RUN: drawloom-opt %s --split-input-file --verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<7x2xf64>) {
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
  // expected-error@+1 {{is over src; it is over edge, src_rel or dst_rel}}
  %y = rgnn.traverse %g over src (%x at src : tensor<7x2xf64>) -> (tensor<4x2xf64> at dst by sum) {
  ^bb0(%u: tensor<2xf64>):
    rgnn.yield %u : tensor<2xf64>
  }
  return
}

// -----

func.func @f(%x: tensor<7x2xf64>) {
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
  // expected-error@+1 {{is over dst_rel and has input 0 at src, which only an edge meets}}
  %y = rgnn.traverse %g over dst_rel (%x at src : tensor<7x2xf64>) -> (tensor<4x2xf64> at dst by sum) {
  ^bb0(%u: tensor<2xf64>):
    rgnn.yield %u : tensor<2xf64>
  }
  return
}

// -----

func.func @f(%z: tensor<5x2xf64>) {
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
  // expected-error@+1 {{is over dst_rel and has result 0 at src, which only an edge meets}}
  %y = rgnn.traverse %g over dst_rel (%z at dst_rel : tensor<5x2xf64>) -> (tensor<7x2xf64> at src by sum) {
  ^bb0(%u: tensor<2xf64>):
    rgnn.yield %u : tensor<2xf64>
  }
  return
}

// -----

func.func @f(%x: tensor<7x2xf64>) {
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
  // expected-error@+1 {{has result 0 with rows of type 'tensor<3xf64>', for which the region has 'tensor<2xf64>'}}
  %y = rgnn.traverse %g over edge (%x at src : tensor<7x2xf64>) -> (tensor<4x3xf64> at dst by sum) {
  ^bb0(%u: tensor<2xf64>):
    rgnn.yield %u : tensor<2xf64>
  }
  return
}

// -----

func.func @f(%x: tensor<7x2xf64>) {
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
  // expected-error@+1 {{has input 0 with rows of type 'tensor<2xf64>', for which the region has 'tensor<3xf64>'}}
  %y = rgnn.traverse %g over edge (%x at src : tensor<7x2xf64>) -> (tensor<4x2xf64> at dst by sum) {
  ^bb0(%u: tensor<3xf64>):
    rgnn.yield %u : tensor<3xf64>
  }
  return
}

// -----

func.func @f(%x: tensor<7x2xf64>) {
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
  // expected-error@+1 {{has result 0 with 7 rows at dst, where the graph has 4}}
  %y = rgnn.traverse %g over edge (%x at src : tensor<7x2xf64>) -> (tensor<7x2xf64> at dst by sum) {
  ^bb0(%u: tensor<2xf64>):
    rgnn.yield %u : tensor<2xf64>
  }
  return
}

// -----

func.func @f(%x: tensor<7x2xf64>) {
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
  // expected-error@+1 {{combines result 0 at dst by none}}
  %y = rgnn.traverse %g over edge (%x at src : tensor<7x2xf64>) -> (tensor<4x2xf64> at dst by none) {
  ^bb0(%u: tensor<2xf64>):
    rgnn.yield %u : tensor<2xf64>
  }
  return
}

// -----

func.func @f(%x: tensor<7x2xf64>) {
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
  // expected-error@+1 {{combines result 0 at edge by sum}}
  %y = rgnn.traverse %g over edge (%x at src : tensor<7x2xf64>) -> (tensor<9x2xf64> at edge by sum) {
  ^bb0(%u: tensor<2xf64>):
    rgnn.yield %u : tensor<2xf64>
  }
  return
}

// -----

func.func @f(%x: tensor<7x2xf64>) {
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
  %g = rgnn.graph incoming(%in_node_pairs, %in_pair_relation, %in_pair_edges, %in_far, %in_far_pair, %in_block_tiles, %in_tile_relation, %in_tile_pair, %in_tile_node
      : tensor<5xi32>, tensor<5xi32>, tensor<6xi32>, tensor<9xi32>, tensor<9xi32>, tensor<3xi32>, tensor<4xi32>, tensor<4x2xi32>, tensor<4x2xi32>)
    {relations = 3, rows_per_block = 2}
  // expected-error@+1 {{goes by outgoing edges, of which rgnn.graph has no order}}
  %y = rgnn.traverse %g over edge (%x at src : tensor<7x2xf64>) -> (tensor<7x2xf64> at src by sum) {
  ^bb0(%u: tensor<2xf64>):
    rgnn.yield %u : tensor<2xf64>
  }
  return
}

// -----

func.func @f(%x: tensor<7x2xf64>) {
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
  // expected-error@+1 {{has a maximum at rel}}
  %y = rgnn.traverse %g over edge (%x at src : tensor<7x2xf64>) -> (tensor<3x2xf64> at rel by max) {
  ^bb0(%u: tensor<2xf64>):
    rgnn.yield %u : tensor<2xf64>
  }
  return
}

// -----

func.func @f(%x: tensor<7x2xi32>) {
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
  // expected-error@+1 {{which is not one of floats}}
  %y = rgnn.traverse %g over edge (%x at src : tensor<7x2xi32>) -> (tensor<4x2xi32> at dst by sum) {
  ^bb0(%u: tensor<2xi32>):
    rgnn.yield %u : tensor<2xi32>
  }
  return
}

// -----

func.func @f(%x: tensor<7x?xf64>) {
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
  // expected-error@+1 {{whose rows have no size}}
  %y = rgnn.traverse %g over edge (%x at src : tensor<7x?xf64>) -> (tensor<4x?xf64> at dst by sum) {
  ^bb0(%u: tensor<?xf64>):
    rgnn.yield %u : tensor<?xf64>
  }
  return
}

// -----

func.func @f(%x: tensor<2x2xf64>, %a: tensor<3xi32>, %b: tensor<2xi32>, %c: tensor<3xi32>, %d: tensor<2xi32>, %e: tensor<2xi32>, %f: tensor<2xi32>, %h: tensor<1xi32>, %i: tensor<1x2xi32>) {
  %g = rgnn.graph incoming(%a, %b, %c, %d, %e, %f, %h, %i, %i
      : tensor<3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<1xi32>, tensor<1x2xi32>, tensor<1x2xi32>)
    {relations = 3, rows_per_block = 2}
  // expected-error@+1 {{has a number that is no space, or no combiner}}
  %y = "rgnn.traverse"(%g, %x) <{over = 4 : i32, at = array<i32: 99>, to = array<i32: 1>, by = array<i32: 1>}> ({
  ^bb0(%u: tensor<2xf64>):
    rgnn.yield %u : tensor<2xf64>
  }) : (!rgnn.graph, tensor<2x2xf64>) -> tensor<2x2xf64>
  return
}
