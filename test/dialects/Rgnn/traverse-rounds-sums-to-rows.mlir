// RUN: drawloom-opt %s --canonicalize --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rows are added in f32 and the sum is rounded once, with or without a conversion. What is not a row of bf16 is not made one.
// CHECK-LABEL: @sums
// CHECK: rgnn.traverse {{.*}} -> (tensor<4x2xbf16> at dst by sum, tensor<4x2xf32> at dst by sum, tensor<4x2xf32> at dst by sum)
// CHECK-COUNT-1: arith.truncf
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @sums(%u: tensor<7x2xbf16>) -> (tensor<4x2xbf16>, tensor<4x2xbf16>, tensor<4x2xf32>) {
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
  %r:3 = rgnn.traverse %g over edge (%u at src : tensor<7x2xbf16>)
      -> (tensor<4x2xf32> at dst by sum, tensor<4x2xf32> at dst by sum, tensor<4x2xf32> at dst by sum) {
  ^bb0(%row: tensor<2xbf16>):
    %wide = arith.extf %row : tensor<2xbf16> to tensor<2xf32>
    %square = arith.mulf %wide, %wide : tensor<2xf32>
    rgnn.yield %wide, %square, %wide : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  }
  %sum = arith.truncf %r#0 : tensor<4x2xf32> to tensor<4x2xbf16>
  %squares = arith.truncf %r#1 : tensor<4x2xf32> to tensor<4x2xbf16>
  return %sum, %squares, %r#2 : tensor<4x2xbf16>, tensor<4x2xbf16>, tensor<4x2xf32>
}
