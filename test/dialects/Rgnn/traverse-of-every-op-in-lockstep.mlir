// RUN: drawloom-opt %s --decompose-graph=lockstep=true --verify-semantics | FileCheck %s
// RUN: drawloom-opt %s --decompose-graph --verify-semantics -o /dev/null
// RUN: drawloom-run %s --target=emulator --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Every op that has a form for many rows, with a dimension more for the edges of two nodes at once; what belongs to no
// edge is computed once.
// CHECK-LABEL: func.func @traverse
// CHECK: scf.forall
// CHECK: scf.for
// CHECK: %[[NUMBER:.*]] = tensor.extract %{{.*}}[] : tensor<i32>
// CHECK: %[[LONGEST:.*]] = arith.index_cast %[[NUMBER]]
// CHECK: scf.for {{.*}} to %[[LONGEST]] step
// CHECK: block.gather {{.*}} -> tensor<2x4xf64>
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<4xf64>)
// CHECK: block.scatter {{.*}} : tensor<2xf64>
func.func @traverse(%v: tensor<4x4xf64>, %u: tensor<7x4xf64>, %e: tensor<9xf64>, %a: tensor<4xf64>)
    -> (tensor<4x4xf64>, tensor<4x2x2xf64>, tensor<9xf64>, tensor<4x4xf64>, tensor<f64>) {
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
  %r:5 = rgnn.traverse %g over edge (%v at dst : tensor<4x4xf64>, %u at src : tensor<7x4xf64>, %e at edge : tensor<9xf64>, %a at all : tensor<4xf64>)
      -> (tensor<4x4xf64> at dst by sum, tensor<4x2x2xf64> at dst by max, tensor<9xf64> at edge by none, tensor<4x4xf64> at dst by sum,
          tensor<f64> at all by sum) {
  ^bb0(%near: tensor<4xf64>, %far: tensor<4xf64>, %own: f64, %all: tensor<4xf64>):
    %zero = arith.constant 0.0 : f64
    %two = arith.constant 2.0 : f64
    %i1 = arith.constant 1 : index
    %empty = tensor.empty() : tensor<4xf64>
    %twice = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%all : tensor<4xf64>) outs(%empty : tensor<4xf64>) {
    ^bb1(%x: f64, %old: f64):
      %y = arith.mulf %x, %two : f64
      linalg.yield %y : f64
    } -> tensor<4xf64>
    %spread = tensor.splat %own : tensor<4xf64>
    %near_twice = arith.mulf %near, %twice : tensor<4xf64>
    %sum = arith.addf %near_twice, %far : tensor<4xf64>
    %large = arith.cmpf ogt, %own, %zero : f64
    %chosen = arith.select %large, %sum, %spread : tensor<4xf64>
    %scaled = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%chosen : tensor<4xf64>) outs(%empty : tensor<4xf64>) {
    ^bb1(%x: f64, %old: f64):
      %n = linalg.index 0 : index
      %n64 = arith.index_cast %n : index to i64
      %number = arith.sitofp %n64 : i64 to f64
      %y = arith.mulf %x, %own : f64
      %z = arith.addf %y, %number : f64
      linalg.yield %z : f64
    } -> tensor<4xf64>
    %square = tensor.expand_shape %scaled [[0, 1]] output_shape [2, 2] : tensor<4xf64> into tensor<2x2xf64>
    %flat = tensor.collapse_shape %square [[0, 1]] : tensor<2x2xf64> into tensor<4xf64>
    %half = tensor.extract_slice %flat[1] [2] [1] : tensor<4xf64> to tensor<2xf64>
    %put = tensor.insert_slice %half into %flat[0] [2] [1] : tensor<2xf64> into tensor<4xf64>
    %one = tensor.extract %put[%i1] : tensor<4xf64>
    %packed = tensor.from_elements %one : tensor<1xf64>
    %again = tensor.collapse_shape %packed [] : tensor<1xf64> into tensor<f64>
    %scalar = tensor.extract %again[] : tensor<f64>
    %sum_empty = tensor.empty() : tensor<f64>
    %sum_zero = linalg.fill ins(%zero : f64) outs(%sum_empty : tensor<f64>) -> tensor<f64>
    %total = linalg.reduce {arith.addf} ins(%put : tensor<4xf64>) outs(%sum_zero : tensor<f64>) dimensions = [0]
    %number = tensor.extract %total[] : tensor<f64>
    %wide_empty = tensor.empty() : tensor<2x2xf64>
    %wide = linalg.broadcast ins(%half : tensor<2xf64>) outs(%wide_empty : tensor<2x2xf64>) dimensions = [0]
    %both = arith.addf %wide, %square : tensor<2x2xf64>
    rgnn.yield %put, %both, %scalar, %twice, %number : tensor<4xf64>, tensor<2x2xf64>, f64, tensor<4xf64>, f64
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<4x4xf64>, tensor<4x2x2xf64>, tensor<9xf64>, tensor<4x4xf64>, tensor<f64>
}
