// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written by generate.py: change it there.
//
// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s
// CHECK: scf.forall
//
// RGCN layer, 128 nodes of width 64, 3 relations, 100 edges in 192 segments (edges of
// one relation into one node, and empty ones):
//   y_v = x_v W0 + b + sum over relations r of (mean over edges (u, r, v) of x_u) W_r
// in bf16 with sums in f32. A tile is 64 segments of one relation: their neighbours are added one of each segment
// at a time, up to the longest segment, and the means multiplied by W_r. A second kernel adds the messages of each node, which
// are segments' results, in order.
#id = affine_map<(i) -> (i)>
#rc = affine_map<(r, c) -> (r, c)>
#r  = affine_map<(r, c) -> (r)>
#c  = affine_map<(r, c) -> (c)>
#none = affine_map<(i) -> ()>

// How many rows the longest of some runs has.
func.func private @longest(%begin: tensor<64xi32>, %end: tensor<64xi32>) -> index {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<i32>
  %start = linalg.fill ins(%zero : i32) outs(%empty : tensor<i32>) -> tensor<i32>
  %most = linalg.generic {indexing_maps = [#id, #id, #none], iterator_types = ["reduction"]}
      ins(%begin, %end : tensor<64xi32>, tensor<64xi32>) outs(%start : tensor<i32>) {
  ^bb0(%b: i32, %e: i32, %so_far: i32):
    %length = arith.subi %e, %b : i32
    %longer = arith.maxsi %so_far, %length : i32
    linalg.yield %longer : i32
  } -> tensor<i32>
  %number = tensor.extract %most[] : tensor<i32>
  %index = arith.index_cast %number : i32 to index
  return %index : index
}

// Entry number %at of each run begin[i] .. end[i] - 1 of a list; -1 past a run's end.
func.func private @listed_edges(%list: tensor<100xi32>, %begin: tensor<64xi32>, %end: tensor<64xi32>, %at: index) -> tensor<64xi32> {
  %none = arith.constant -1 : i32
  %start = arith.constant 0 : index
  %number = arith.index_cast %at : index to i32
  %empty = tensor.empty() : tensor<64xi32>
  %entry = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%begin, %end : tensor<64xi32>, tensor<64xi32>) outs(%empty : tensor<64xi32>) {
  ^bb0(%b: i32, %e: i32, %old: i32):
    %place = arith.addi %b, %number : i32
    %inside = arith.cmpi slt, %place, %e : i32
    %index = arith.index_cast %place : i32 to index
    %some = arith.select %inside, %index, %start : index
    %found = tensor.extract %list[%some] : tensor<100xi32>
    %named = arith.select %inside, %found, %none : i32
    linalg.yield %named : i32
  } -> tensor<64xi32>
  return %entry : tensor<64xi32>
}

// Entry number %at of each run begin[i] .. end[i] - 1 of a list; -1 past a run's end.
func.func private @listed_messages(%list: tensor<90xi32>, %begin: tensor<64xi32>, %end: tensor<64xi32>, %at: index) -> tensor<64xi32> {
  %none = arith.constant -1 : i32
  %start = arith.constant 0 : index
  %number = arith.index_cast %at : index to i32
  %empty = tensor.empty() : tensor<64xi32>
  %entry = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%begin, %end : tensor<64xi32>, tensor<64xi32>) outs(%empty : tensor<64xi32>) {
  ^bb0(%b: i32, %e: i32, %old: i32):
    %place = arith.addi %b, %number : i32
    %inside = arith.cmpi slt, %place, %e : i32
    %index = arith.index_cast %place : i32 to index
    %some = arith.select %inside, %index, %start : index
    %found = tensor.extract %list[%some] : tensor<90xi32>
    %named = arith.select %inside, %found, %none : i32
    linalg.yield %named : i32
  } -> tensor<64xi32>
  return %entry : tensor<64xi32>
}

func.func @rgcn_segments(%x: tensor<128x64xbf16>, %w: tensor<3x64x64xbf16>, %w0: tensor<64x64xbf16>, %b: tensor<64xbf16>,
    %block_relation: tensor<2xi32>, %block_tiles: tensor<3xi32>,
    %segment_begin: tensor<192xi32>, %segment_end: tensor<192xi32>, %source: tensor<100xi32>,
    %node_first: tensor<129xi32>, %message: tensor<90xi32>) -> tensor<128x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile = arith.constant 64 : index
  %no_results = tensor.empty() : tensor<192x64xbf16>
  %results = scf.forall (%block) in (2) shared_outs(%out = %no_results) -> (tensor<192x64xbf16>) {
    %next_block = arith.addi %block, %c1 : index
    %relation32 = tensor.extract %block_relation[%block] : tensor<2xi32>
    %first32 = tensor.extract %block_tiles[%block] : tensor<3xi32>
    %last32 = tensor.extract %block_tiles[%next_block] : tensor<3xi32>
    %relation = arith.index_cast %relation32 : i32 to index
    %first = arith.index_cast %first32 : i32 to index
    %last = arith.index_cast %last32 : i32 to index
    %wr = tensor.extract_slice %w[%relation, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<3x64x64xbf16> to tensor<64x64xbf16>
    %first_row = affine.apply affine_map<(i) -> (i * 64)>(%first)
    %count = affine.apply affine_map<(i, j) -> (j * 64 - i * 64)>(%first, %last)
    %run = tensor.extract_slice %out[%first_row, 0] [%count, 64] [1, 1] : tensor<192x64xbf16> to tensor<?x64xbf16>
    %all = scf.for %row = %c0 to %count step %tile iter_args(%to = %run) -> (tensor<?x64xbf16>) {
      %at = arith.addi %first_row, %row : index
      %begin = tensor.extract_slice %segment_begin[%at] [64] [1] : tensor<192xi32> to tensor<64xi32>
      %end = tensor.extract_slice %segment_end[%at] [64] [1] : tensor<192xi32> to tensor<64xi32>
      %longest = func.call @longest(%begin, %end) : (tensor<64xi32>, tensor<64xi32>) -> index
      %wide_empty = tensor.empty() : tensor<64x64xf32>
      %nothing = linalg.fill ins(%zero : f32) outs(%wide_empty : tensor<64x64xf32>) -> tensor<64x64xf32>
      %sum = scf.for %e = %c0 to %longest step %c1 iter_args(%so_far = %nothing) -> (tensor<64x64xf32>) {
        %node = func.call @listed_edges(%source, %begin, %end, %e) : (tensor<100xi32>, tensor<64xi32>, tensor<64xi32>, index) -> tensor<64xi32>
        %rows_empty = tensor.empty() : tensor<64x64xbf16>
        %xe = block.gather %x[%node] outs(%rows_empty) : tensor<128x64xbf16>[tensor<64xi32>] -> tensor<64x64xbf16>
        %more = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]}
            ins(%xe : tensor<64x64xbf16>) outs(%so_far : tensor<64x64xf32>) {
        ^bb0(%neighbour: bf16, %part: f32):
          %n = arith.extf %neighbour : bf16 to f32
          %s = arith.addf %part, %n : f32
          linalg.yield %s : f32
        } -> tensor<64x64xf32>
        scf.yield %more : tensor<64x64xf32>
      }
      %scale_empty = tensor.empty() : tensor<64xf32>
      %scale = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
          ins(%begin, %end : tensor<64xi32>, tensor<64xi32>) outs(%scale_empty : tensor<64xf32>) {
      ^bb0(%from: i32, %to_edge: i32, %old: f32):
        %length = arith.subi %to_edge, %from : i32
        %some = arith.maxsi %length, %one : i32
        %divisor = arith.sitofp %some : i32 to f32
        %unit = arith.constant 1.0 : f32
        %share = arith.divf %unit, %divisor : f32
        linalg.yield %share : f32
      } -> tensor<64xf32>
      %mean_empty = tensor.empty() : tensor<64x64xbf16>
      %mean = linalg.generic {indexing_maps = [#rc, #r, #rc], iterator_types = ["parallel", "parallel"]}
          ins(%sum, %scale : tensor<64x64xf32>, tensor<64xf32>) outs(%mean_empty : tensor<64x64xbf16>) {
      ^bb0(%s: f32, %share: f32, %old: bf16):
        %m = arith.mulf %s, %share : f32
        %narrow = arith.truncf %m : f32 to bf16
        linalg.yield %narrow : bf16
      } -> tensor<64x64xbf16>
      %product = linalg.matmul ins(%mean, %wr : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%nothing : tensor<64x64xf32>) -> tensor<64x64xf32>
      %result = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]}
          ins(%product : tensor<64x64xf32>) outs(%mean_empty : tensor<64x64xbf16>) {
      ^bb0(%p: f32, %old: bf16):
        %narrow = arith.truncf %p : f32 to bf16
        linalg.yield %narrow : bf16
      } -> tensor<64x64xbf16>
      %stored = tensor.insert_slice %result into %to[%row, 0] [64, 64] [1, 1] : tensor<64x64xbf16> into tensor<?x64xbf16>
      scf.yield %stored : tensor<?x64xbf16>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %all into %out[%first_row, 0] [%count, 64] [1, 1] : tensor<?x64xbf16> into tensor<192x64xbf16>
    }
  }
  %empty = tensor.empty() : tensor<128x64xbf16>
  %y = scf.forall (%block) in (2) shared_outs(%y_out = %empty) -> (tensor<128x64xbf16>) {
    %at = affine.apply affine_map<(i) -> (i * 64)>(%block)
    %at_next = arith.addi %at, %c1 : index
    %own = tensor.extract_slice %x[%at, 0] [64, 64] [1, 1] : tensor<128x64xbf16> to tensor<64x64xbf16>
    %begin = tensor.extract_slice %node_first[%at] [64] [1] : tensor<129xi32> to tensor<64xi32>
    %end = tensor.extract_slice %node_first[%at_next] [64] [1] : tensor<129xi32> to tensor<64xi32>
    %longest = func.call @longest(%begin, %end) : (tensor<64xi32>, tensor<64xi32>) -> index
    %wide_empty = tensor.empty() : tensor<64x64xf32>
    %bias = linalg.generic {indexing_maps = [#c, #rc], iterator_types = ["parallel", "parallel"]}
        ins(%b : tensor<64xbf16>) outs(%wide_empty : tensor<64x64xf32>) {
    ^bb0(%be: bf16, %old: f32):
      %wide = arith.extf %be : bf16 to f32
      linalg.yield %wide : f32
    } -> tensor<64x64xf32>
    %self = linalg.matmul ins(%own, %w0 : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%bias : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = scf.for %m = %c0 to %longest step %c1 iter_args(%so_far = %self) -> (tensor<64x64xf32>) {
      %line = func.call @listed_messages(%message, %begin, %end, %m) : (tensor<90xi32>, tensor<64xi32>, tensor<64xi32>, index) -> tensor<64xi32>
      %rows_empty = tensor.empty() : tensor<64x64xbf16>
      %xm = block.gather %results[%line] outs(%rows_empty) : tensor<192x64xbf16>[tensor<64xi32>] -> tensor<64x64xbf16>
      %more = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]}
          ins(%xm : tensor<64x64xbf16>) outs(%so_far : tensor<64x64xf32>) {
      ^bb0(%neighbour: bf16, %part: f32):
        %n = arith.extf %neighbour : bf16 to f32
        %s = arith.addf %part, %n : f32
        linalg.yield %s : f32
      } -> tensor<64x64xf32>
      scf.yield %more : tensor<64x64xf32>
    }
    %y_empty = tensor.empty() : tensor<64x64xbf16>
    %y_rows = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]}
        ins(%sum : tensor<64x64xf32>) outs(%y_empty : tensor<64x64xbf16>) {
    ^bb0(%s: f32, %old: bf16):
      %narrow = arith.truncf %s : f32 to bf16
      linalg.yield %narrow : bf16
    } -> tensor<64x64xbf16>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y_rows into %y_out[%at, 0] [64, 64] [1, 1] : tensor<64x64xbf16> into tensor<128x64xbf16>
    }
  }
  return %y : tensor<128x64xbf16>
}
