// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written by generate.py: change it there.
//
// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s
// CHECK: scf.forall
//
// RGCN layer, 48 nodes of width 64, 3 relations, 100 edges in 40 segments (edges of
// one relation into one node):
//   y_v = x_v W0 + b + sum over relations r of (sum over edges e = (u, r, v) of c_e x_u) W_r
// A block owns 16 nodes and writes them once: no scattering, no atomics. For each
// relation it sums the neighbours of its nodes into a tile, then multiplies by W_r.
#rc = affine_map<(r, c) -> (r, c)>
#c  = affine_map<(r, c) -> (c)>
#id = affine_map<(i) -> (i)>

func.func @rgcn(%x: tensor<48x64xf32>, %w: tensor<3x64x64xf32>, %w0: tensor<64x64xf32>, %b: tensor<64xf32>,
    %block_segments: tensor<10xi32>, %segment_row: tensor<40xi32>, %segment_edges: tensor<41xi32>,
    %source: tensor<108xi32>, %weight: tensor<108xf32>) -> tensor<48x64xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant -1 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %relations = arith.constant 3 : index
  %tile_edges = arith.constant 8 : index
  %empty = tensor.empty() : tensor<48x64xf32>
  %y = scf.forall (%block) in (3) shared_outs(%y_out = %empty) -> (tensor<48x64xf32>) {
    %first_row = affine.apply affine_map<(i) -> (i * 16)>(%block)
    %own = tensor.extract_slice %x[%first_row, 0] [16, 64] [1, 1] : tensor<48x64xf32> to tensor<16x64xf32>
    %slot = tensor.extract_slice %y_out[%first_row, 0] [16, 64] [1, 1] : tensor<48x64xf32> to tensor<16x64xf32>
    %bias = linalg.broadcast ins(%b : tensor<64xf32>) outs(%slot : tensor<16x64xf32>) dimensions = [0]
    %self = linalg.matmul ins(%own, %w0 : tensor<16x64xf32>, tensor<64x64xf32>) outs(%bias : tensor<16x64xf32>) -> tensor<16x64xf32>
    %sum = scf.for %r = %c0 to %relations step %c1 iter_args(%out = %self) -> (tensor<16x64xf32>) {
      %entry = affine.apply affine_map<(i, r) -> (i * 3 + r)>(%block, %r)
      %next_entry = arith.addi %entry, %c1 : index
      %first32 = tensor.extract %block_segments[%entry] : tensor<10xi32>
      %last32 = tensor.extract %block_segments[%next_entry] : tensor<10xi32>
      %first = arith.index_cast %first32 : i32 to index
      %last = arith.index_cast %last32 : i32 to index
      %present = arith.cmpi slt, %first, %last : index
      // A relation without edges into this block costs nothing.
      %added = scf.if %present -> (tensor<16x64xf32>) {
        %a_empty = tensor.empty() : tensor<16x64xf32>
        %a_zero = linalg.fill ins(%zero : f32) outs(%a_empty : tensor<16x64xf32>) -> tensor<16x64xf32>
        %a = scf.for %segment = %first to %last step %c1 iter_args(%a_part = %a_zero) -> (tensor<16x64xf32>) {
          %next_segment = arith.addi %segment, %c1 : index
          %row32 = tensor.extract %segment_row[%segment] : tensor<40xi32>
          %begin32 = tensor.extract %segment_edges[%segment] : tensor<41xi32>
          %end32 = tensor.extract %segment_edges[%next_segment] : tensor<41xi32>
          %row = arith.index_cast %row32 : i32 to index
          %begin = arith.index_cast %begin32 : i32 to index
          %end = arith.index_cast %end32 : i32 to index
          %a_row = tensor.extract_slice %a_part[%row, 0] [1, 64] [1, 1] : tensor<16x64xf32> to tensor<64xf32>
          // 8 edges at a time; past the segment's end row -1, which is zeros.
          %neighbours = scf.for %e = %begin to %end step %tile_edges iter_args(%acc = %a_row) -> (tensor<64xf32>) {
            %listed = tensor.extract_slice %source[%e] [8] [1] : tensor<108xi32> to tensor<8xi32>
            %ce = tensor.extract_slice %weight[%e] [8] [1] : tensor<108xf32> to tensor<8xf32>
            %rows_empty = tensor.empty() : tensor<8xi32>
            %rows = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
                ins(%listed : tensor<8xi32>) outs(%rows_empty : tensor<8xi32>) {
            ^bb0(%node: i32, %old: i32):
              %i = linalg.index 0 : index
              %edge = arith.addi %e, %i : index
              %inside = arith.cmpi slt, %edge, %end : index
              %named = arith.select %inside, %node, %none : i32
              linalg.yield %named : i32
            } -> tensor<8xi32>
            %x_empty = tensor.empty() : tensor<8x64xf32>
            %xe = block.gather %x[%rows] outs(%x_empty) : tensor<48x64xf32>[tensor<8xi32>] -> tensor<8x64xf32>
            %more = linalg.generic {indexing_maps = [affine_map<(f, e) -> (e)>, affine_map<(f, e) -> (e, f)>,
                                                      affine_map<(f, e) -> (f)>],
                                     iterator_types = ["parallel", "reduction"]}
                ins(%ce, %xe : tensor<8xf32>, tensor<8x64xf32>) outs(%acc : tensor<64xf32>) {
            ^bb0(%coefficient: f32, %neighbour: f32, %partial: f32):
              %m = arith.mulf %coefficient, %neighbour fastmath<contract> : f32
              %s = arith.addf %partial, %m fastmath<contract> : f32
              linalg.yield %s : f32
            } -> tensor<64xf32>
            scf.yield %more : tensor<64xf32>
          }
          %stored = tensor.insert_slice %neighbours into %a_part[%row, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<16x64xf32>
          scf.yield %stored : tensor<16x64xf32>
        }
        %wr = tensor.extract_slice %w[%r, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<3x64x64xf32> to tensor<64x64xf32>
        %product = linalg.matmul ins(%a, %wr : tensor<16x64xf32>, tensor<64x64xf32>) outs(%out : tensor<16x64xf32>) -> tensor<16x64xf32>
        scf.yield %product : tensor<16x64xf32>
      } else {
        scf.yield %out : tensor<16x64xf32>
      }
      scf.yield %added : tensor<16x64xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %y_out[%first_row, 0] [16, 64] [1, 1] : tensor<16x64xf32> into tensor<48x64xf32>
    }
  }
  return %y : tensor<48x64xf32>
}
