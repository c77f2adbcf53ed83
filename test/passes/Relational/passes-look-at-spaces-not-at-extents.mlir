// RUN: drawloom-opt %s --rgnn-associate --rgnn-form-sweeps --decompose-graph --verify-semantics -o /dev/null
// RUN: drawloom-opt %s --rgnn-associate --rgnn-form-sweeps --decompose-graph=lockstep=true --verify-semantics -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rows of pairs that are read as rows of nodes.
func.func @linear_of_other_rows(%x: tensor<3x2xf64>, %w: tensor<3x2x2xf64>) -> tensor<3x2xf64> {
  // As many pairs as nodes, of sources and of targets.
  %in_node_pairs = arith.constant dense<[0, 1, 3, 3]> : tensor<4xi32>
  %in_pair_relation = arith.constant dense<[0, 0, 1]> : tensor<3xi32>
  %in_pair_edges = arith.constant dense<[0, 2, 3, 4]> : tensor<4xi32>
  %in_far = arith.constant dense<[0, 2, 0, 1]> : tensor<4xi32>
  %in_far_pair = arith.constant dense<[0, 2, 0, 1]> : tensor<4xi32>
  %in_block_tiles = arith.constant dense<[0, 2, 2]> : tensor<3xi32>
  %in_tile_relation = arith.constant dense<[0, 1]> : tensor<2xi32>
  %in_tile_pair = arith.constant dense<[[0, 1], [2, -1]]> : tensor<2x2xi32>
  %in_tile_node = arith.constant dense<[[0, 1], [1, -1]]> : tensor<2x2xi32>
  %out_node_pairs = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %out_pair_relation = arith.constant dense<[0, 1, 0]> : tensor<3xi32>
  %out_pair_edges = arith.constant dense<[0, 2, 3, 4]> : tensor<4xi32>
  %out_far = arith.constant dense<[0, 1, 1, 0]> : tensor<4xi32>
  %out_far_pair = arith.constant dense<[0, 1, 2, 0]> : tensor<4xi32>
  %out_block_tiles = arith.constant dense<[0, 2, 3]> : tensor<3xi32>
  %out_tile_relation = arith.constant dense<[0, 1, 0]> : tensor<3xi32>
  %out_tile_pair = arith.constant dense<[[0, -1], [1, -1], [2, -1]]> : tensor<3x2xi32>
  %out_tile_node = arith.constant dense<[[0, -1], [1, -1], [2, -1]]> : tensor<3x2xi32>
  %out_edge = arith.constant dense<[0, 2, 3, 1]> : tensor<4xi32>
  %g = rgnn.graph incoming(%in_node_pairs, %in_pair_relation, %in_pair_edges, %in_far, %in_far_pair, %in_block_tiles, %in_tile_relation, %in_tile_pair, %in_tile_node
      : tensor<4xi32>, tensor<3xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<3xi32>, tensor<2xi32>, tensor<2x2xi32>, tensor<2x2xi32>)
    outgoing(%out_node_pairs, %out_pair_relation, %out_pair_edges, %out_far, %out_far_pair, %out_block_tiles, %out_tile_relation, %out_tile_pair, %out_tile_node, %out_edge
      : tensor<4xi32>, tensor<3xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3x2xi32>, tensor<3x2xi32>, tensor<4xi32>)
    {relations = 3, rows_per_block = 2}
  %z = rgnn.linear %g, %x at dst, %w : tensor<3x2xf64>, tensor<3x2x2xf64> -> tensor<3x2xf64>
  %y = rgnn.traverse %g over edge (%z at dst : tensor<3x2xf64>) -> (tensor<3x2xf64> at src by sum) {
  ^bb0(%u: tensor<2xf64>):
    rgnn.yield %u : tensor<2xf64>
  }
  return %y : tensor<3x2xf64>
}

func.func @product_of_other_rows(%x: tensor<3x2xf64>, %w: tensor<3x2x2xf64>) -> (tensor<3x2xf64>, tensor<3x2x2xf64>) {
  // As many pairs as nodes, of sources and of targets.
  %in_node_pairs = arith.constant dense<[0, 1, 3, 3]> : tensor<4xi32>
  %in_pair_relation = arith.constant dense<[0, 0, 1]> : tensor<3xi32>
  %in_pair_edges = arith.constant dense<[0, 2, 3, 4]> : tensor<4xi32>
  %in_far = arith.constant dense<[0, 2, 0, 1]> : tensor<4xi32>
  %in_far_pair = arith.constant dense<[0, 2, 0, 1]> : tensor<4xi32>
  %in_block_tiles = arith.constant dense<[0, 2, 2]> : tensor<3xi32>
  %in_tile_relation = arith.constant dense<[0, 1]> : tensor<2xi32>
  %in_tile_pair = arith.constant dense<[[0, 1], [2, -1]]> : tensor<2x2xi32>
  %in_tile_node = arith.constant dense<[[0, 1], [1, -1]]> : tensor<2x2xi32>
  %out_node_pairs = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %out_pair_relation = arith.constant dense<[0, 1, 0]> : tensor<3xi32>
  %out_pair_edges = arith.constant dense<[0, 2, 3, 4]> : tensor<4xi32>
  %out_far = arith.constant dense<[0, 1, 1, 0]> : tensor<4xi32>
  %out_far_pair = arith.constant dense<[0, 1, 2, 0]> : tensor<4xi32>
  %out_block_tiles = arith.constant dense<[0, 2, 3]> : tensor<3xi32>
  %out_tile_relation = arith.constant dense<[0, 1, 0]> : tensor<3xi32>
  %out_tile_pair = arith.constant dense<[[0, -1], [1, -1], [2, -1]]> : tensor<3x2xi32>
  %out_tile_node = arith.constant dense<[[0, -1], [1, -1], [2, -1]]> : tensor<3x2xi32>
  %out_edge = arith.constant dense<[0, 2, 3, 1]> : tensor<4xi32>
  %g = rgnn.graph incoming(%in_node_pairs, %in_pair_relation, %in_pair_edges, %in_far, %in_far_pair, %in_block_tiles, %in_tile_relation, %in_tile_pair, %in_tile_node
      : tensor<4xi32>, tensor<3xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<3xi32>, tensor<2xi32>, tensor<2x2xi32>, tensor<2x2xi32>)
    outgoing(%out_node_pairs, %out_pair_relation, %out_pair_edges, %out_far, %out_far_pair, %out_block_tiles, %out_tile_relation, %out_tile_pair, %out_tile_node, %out_edge
      : tensor<4xi32>, tensor<3xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3x2xi32>, tensor<3x2xi32>, tensor<4xi32>)
    {relations = 3, rows_per_block = 2}
  %a = rgnn.traverse %g over edge (%x at src : tensor<3x2xf64>) -> (tensor<3x2xf64> at dst_rel by sum) {
  ^bb0(%u: tensor<2xf64>):
    rgnn.yield %u : tensor<2xf64>
  }
  %m = rgnn.linear %g, %a at dst_rel, %w : tensor<3x2xf64>, tensor<3x2x2xf64> -> tensor<3x2xf64>
  %d = rgnn.outer %g, %a at dst, %m at dst_rel : tensor<3x2xf64>, tensor<3x2xf64> -> tensor<3x2x2xf64>
  %y = rgnn.traverse %g over dst_rel (%m at dst : tensor<3x2xf64>) -> (tensor<3x2xf64> at dst by sum) {
  ^bb0(%u: tensor<2xf64>):
    rgnn.yield %u : tensor<2xf64>
  }
  return %y, %d : tensor<3x2xf64>, tensor<3x2x2xf64>
}

func.func @sums_of_other_rows(%x: tensor<3x2xf64>, %c: tensor<3xf64>, %w: tensor<3x2x2xf64>) -> tensor<3x2xf64> {
  // As many pairs as nodes, of sources and of targets.
  %in_node_pairs = arith.constant dense<[0, 1, 3, 3]> : tensor<4xi32>
  %in_pair_relation = arith.constant dense<[0, 0, 1]> : tensor<3xi32>
  %in_pair_edges = arith.constant dense<[0, 2, 3, 4]> : tensor<4xi32>
  %in_far = arith.constant dense<[0, 2, 0, 1]> : tensor<4xi32>
  %in_far_pair = arith.constant dense<[0, 2, 0, 1]> : tensor<4xi32>
  %in_block_tiles = arith.constant dense<[0, 2, 2]> : tensor<3xi32>
  %in_tile_relation = arith.constant dense<[0, 1]> : tensor<2xi32>
  %in_tile_pair = arith.constant dense<[[0, 1], [2, -1]]> : tensor<2x2xi32>
  %in_tile_node = arith.constant dense<[[0, 1], [1, -1]]> : tensor<2x2xi32>
  %out_node_pairs = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %out_pair_relation = arith.constant dense<[0, 1, 0]> : tensor<3xi32>
  %out_pair_edges = arith.constant dense<[0, 2, 3, 4]> : tensor<4xi32>
  %out_far = arith.constant dense<[0, 1, 1, 0]> : tensor<4xi32>
  %out_far_pair = arith.constant dense<[0, 1, 2, 0]> : tensor<4xi32>
  %out_block_tiles = arith.constant dense<[0, 2, 3]> : tensor<3xi32>
  %out_tile_relation = arith.constant dense<[0, 1, 0]> : tensor<3xi32>
  %out_tile_pair = arith.constant dense<[[0, -1], [1, -1], [2, -1]]> : tensor<3x2xi32>
  %out_tile_node = arith.constant dense<[[0, -1], [1, -1], [2, -1]]> : tensor<3x2xi32>
  %out_edge = arith.constant dense<[0, 2, 3, 1]> : tensor<4xi32>
  %g = rgnn.graph incoming(%in_node_pairs, %in_pair_relation, %in_pair_edges, %in_far, %in_far_pair, %in_block_tiles, %in_tile_relation, %in_tile_pair, %in_tile_node
      : tensor<4xi32>, tensor<3xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<3xi32>, tensor<2xi32>, tensor<2x2xi32>, tensor<2x2xi32>)
    outgoing(%out_node_pairs, %out_pair_relation, %out_pair_edges, %out_far, %out_far_pair, %out_block_tiles, %out_tile_relation, %out_tile_pair, %out_tile_node, %out_edge
      : tensor<4xi32>, tensor<3xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3x2xi32>, tensor<3x2xi32>, tensor<4xi32>)
    {relations = 3, rows_per_block = 2}
  %b = rgnn.traverse %g over dst_rel (%x at dst : tensor<3x2xf64>, %c at dst_rel : tensor<3xf64>) -> (tensor<3x2xf64> at dst_rel by none) {
  ^bb0(%u: tensor<2xf64>, %k: f64):
    %all = tensor.splat %k : tensor<2xf64>
    %p = arith.mulf %u, %all : tensor<2xf64>
    rgnn.yield %p : tensor<2xf64>
  }
  %z = rgnn.linear %g, %b at dst, %w : tensor<3x2xf64>, tensor<3x2x2xf64> -> tensor<3x2xf64>
  %y = rgnn.traverse %g over edge (%z at dst_rel : tensor<3x2xf64>) -> (tensor<3x2xf64> at src by sum) {
  ^bb0(%u: tensor<2xf64>):
    rgnn.yield %u : tensor<2xf64>
  }
  return %y : tensor<3x2xf64>
}
