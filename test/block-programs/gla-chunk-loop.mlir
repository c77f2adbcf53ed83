// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written by generate.py: change it there.
//
// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s
// CHECK: scf.forall
//
// Gated linear attention, 2 heads of width 64, 200 tokens in 3 packed sequences:
// sequence i has the tokens starts[i] .. starts[i + 1] - 1, possibly none.
//   S_t = diag(exp g_t) S_(t-1) + k_t^T v_t,    o_t = q_t S_t / 8
// in chunks of 64 tokens. With G the sum of g within the chunk, up to and with a token:
//   o = (q exp(G)) S + mask((q exp(G)) (k exp(-G))^T) v
//   S = diag(exp G_last) S + (k exp(G_last - G))^T v
// exp(-G) overflows, so a chunk is cut into 4 parts of 16 tokens: queries are scaled by
// the gate since the start of their part, keys by the gate up to the end of theirs, and
// the gate between the two is one row for each pair of parts.
#id = affine_map<(i) -> (i)>
#rc = affine_map<(r, c) -> (r, c)>
#r  = affine_map<(r, c) -> (r)>
#c  = affine_map<(r, c) -> (c)>

// One chunk: outputs of its tokens and the state after it.
func.func private @chunk(%qt: tensor<64x64xf32>, %kt: tensor<64x64xf32>, %vt: tensor<64x64xf32>, %gt: tensor<64x64xf32>, %s: tensor<64x64xf32>)
    -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %c0 = arith.constant 0 : index
  %part = arith.constant 16 : index
  %part_last = arith.constant 15 : index
  %chunk = arith.constant 64 : index
  %tile_empty = tensor.empty() : tensor<64x64xf32>
  %gates = block.scan add %gt along 0 outs(%tile_empty) : tensor<64x64xf32> -> tensor<64x64xf32>
  %before = block.scan add exclusive %gt along 0 outs(%tile_empty) : tensor<64x64xf32> -> tensor<64x64xf32>
  %last = tensor.extract_slice %gates[63, 0] [1, 64] [1, 1] : tensor<64x64xf32> to tensor<64xf32>

  // Part by part: queries since the start of their part, keys up to the end
  // of theirs and up to the end of the chunk.
  %scaled:3 = scf.for %p = %c0 to %chunk step %part
      iter_args(%q_out = %tile_empty, %k_out = %tile_empty, %k_last_out = %tile_empty) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
    %p_end = arith.addi %p, %part_last : index
    %from = tensor.extract_slice %before[%p, 0] [1, 64] [1, 1] : tensor<64x64xf32> to tensor<64xf32>
    %to = tensor.extract_slice %gates[%p_end, 0] [1, 64] [1, 1] : tensor<64x64xf32> to tensor<64xf32>
    %gp = tensor.extract_slice %gates[%p, 0] [16, 64] [1, 1] : tensor<64x64xf32> to tensor<16x64xf32>
    %qp = tensor.extract_slice %qt[%p, 0] [16, 64] [1, 1] : tensor<64x64xf32> to tensor<16x64xf32>
    %kp = tensor.extract_slice %kt[%p, 0] [16, 64] [1, 1] : tensor<64x64xf32> to tensor<16x64xf32>
    %q_slot = tensor.extract_slice %q_out[%p, 0] [16, 64] [1, 1] : tensor<64x64xf32> to tensor<16x64xf32>
    %k_slot = tensor.extract_slice %k_out[%p, 0] [16, 64] [1, 1] : tensor<64x64xf32> to tensor<16x64xf32>
    %k_last_slot = tensor.extract_slice %k_last_out[%p, 0] [16, 64] [1, 1] : tensor<64x64xf32> to tensor<16x64xf32>
    %rest_empty = tensor.empty() : tensor<64xf32>
    %rest = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%last, %to : tensor<64xf32>, tensor<64xf32>) outs(%rest_empty : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32, %old: f32):
      %d = arith.subf %a, %b : f32
      %e = math.exp %d : f32
      linalg.yield %e : f32
    } -> tensor<64xf32>
    %parts:3 = linalg.generic {indexing_maps = [#rc, #rc, #rc, #c, #c, #c, #rc, #rc, #rc],
                                iterator_types = ["parallel", "parallel"]}
        ins(%qp, %kp, %gp, %from, %to, %rest : tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)
        outs(%q_slot, %k_slot, %k_last_slot : tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>) {
    ^bb0(%qe: f32, %ke: f32, %ge: f32, %fe: f32, %te: f32, %re: f32, %o0: f32, %o1: f32, %o2: f32):
      %since = arith.subf %ge, %fe : f32
      %since_exp = math.exp %since : f32
      %q_scale = arith.mulf %since_exp, %scale : f32
      %q_new = arith.mulf %qe, %q_scale : f32
      %until = arith.subf %te, %ge : f32
      %until_exp = math.exp %until : f32
      %k_new = arith.mulf %ke, %until_exp : f32
      %k_last = arith.mulf %k_new, %re : f32
      linalg.yield %q_new, %k_new, %k_last : f32, f32, f32
    } -> (tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>)
    %q_in = tensor.insert_slice %parts#0 into %q_out[%p, 0] [16, 64] [1, 1] : tensor<16x64xf32> into tensor<64x64xf32>
    %k_in = tensor.insert_slice %parts#1 into %k_out[%p, 0] [16, 64] [1, 1] : tensor<16x64xf32> into tensor<64x64xf32>
    %k_last_in = tensor.insert_slice %parts#2 into %k_last_out[%p, 0] [16, 64] [1, 1] : tensor<16x64xf32> into tensor<64x64xf32>
    scf.yield %q_in, %k_in, %k_last_in : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  }
  %turned_empty = tensor.empty() : tensor<64x64xf32>
  %turned = linalg.transpose ins(%scaled#1 : tensor<64x64xf32>) outs(%turned_empty : tensor<64x64xf32>) permutation = [1, 0]

  // Outputs: the state's share, then the parts up to and with the own one.
  %o_tile = scf.for %p = %c0 to %chunk step %part iter_args(%done = %tile_empty) -> (tensor<64x64xf32>) {
    %qp = tensor.extract_slice %scaled#0[%p, 0] [16, 64] [1, 1] : tensor<64x64xf32> to tensor<16x64xf32>
    %from = tensor.extract_slice %before[%p, 0] [1, 64] [1, 1] : tensor<64x64xf32> to tensor<64xf32>
    %since_empty = tensor.empty() : tensor<64xf32>
    %since_start = linalg.exp ins(%from : tensor<64xf32>) outs(%since_empty : tensor<64xf32>) -> tensor<64xf32>
    %strip_empty = tensor.empty() : tensor<16x64xf32>
    %q_state = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]}
        ins(%qp, %since_start : tensor<16x64xf32>, tensor<64xf32>) outs(%strip_empty : tensor<16x64xf32>) {
    ^bb0(%qe: f32, %se: f32, %old: f32):
      %m = arith.mulf %qe, %se : f32
      linalg.yield %m : f32
    } -> tensor<16x64xf32>
    %slot = tensor.extract_slice %done[%p, 0] [16, 64] [1, 1] : tensor<64x64xf32> to tensor<16x64xf32>
    %start_sum = linalg.fill ins(%zero : f32) outs(%slot : tensor<16x64xf32>) -> tensor<16x64xf32>
    %by_state = linalg.matmul ins(%q_state, %s : tensor<16x64xf32>, tensor<64x64xf32>) outs(%start_sum : tensor<16x64xf32>) -> tensor<16x64xf32>
    %p_next = arith.addi %p, %part : index
    %by_keys = scf.for %j = %c0 to %p_next step %part iter_args(%sum = %by_state) -> (tensor<16x64xf32>) {
      %j_end = arith.addi %j, %part_last : index
      %to = tensor.extract_slice %gates[%j_end, 0] [1, 64] [1, 1] : tensor<64x64xf32> to tensor<64xf32>
      %between_empty = tensor.empty() : tensor<64xf32>
      %between = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
          ins(%from, %to : tensor<64xf32>, tensor<64xf32>) outs(%between_empty : tensor<64xf32>) {
      ^bb0(%a: f32, %b: f32, %old: f32):
        %d = arith.subf %a, %b : f32
        %e = math.exp %d : f32
        linalg.yield %e : f32
      } -> tensor<64xf32>
      %q_gated = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]}
          ins(%qp, %between : tensor<16x64xf32>, tensor<64xf32>) outs(%strip_empty : tensor<16x64xf32>) {
      ^bb0(%qe: f32, %be: f32, %old: f32):
        %m = arith.mulf %qe, %be : f32
        linalg.yield %m : f32
      } -> tensor<16x64xf32>
      %kj = tensor.extract_slice %turned[0, %j] [64, 16] [1, 1] : tensor<64x64xf32> to tensor<64x16xf32>
      %vj = tensor.extract_slice %vt[%j, 0] [16, 64] [1, 1] : tensor<64x64xf32> to tensor<16x64xf32>
      %square_empty = tensor.empty() : tensor<16x16xf32>
      %square_zero = linalg.fill ins(%zero : f32) outs(%square_empty : tensor<16x16xf32>) -> tensor<16x16xf32>
      %scores = linalg.matmul ins(%q_gated, %kj : tensor<16x64xf32>, tensor<64x16xf32>) outs(%square_zero : tensor<16x16xf32>) -> tensor<16x16xf32>
      %masked = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]}
          ins(%scores : tensor<16x16xf32>) outs(%square_empty : tensor<16x16xf32>) {
      ^bb0(%score: f32, %old: f32):
        %r = linalg.index 0 : index
        %c = linalg.index 1 : index
        %query = arith.addi %p, %r : index
        %key = arith.addi %j, %c : index
        %seen = arith.cmpi sge, %query, %key : index
        %kept = arith.select %seen, %score, %zero : f32
        linalg.yield %kept : f32
      } -> tensor<16x16xf32>
      %more = linalg.matmul ins(%masked, %vj : tensor<16x16xf32>, tensor<16x64xf32>) outs(%sum : tensor<16x64xf32>) -> tensor<16x64xf32>
      scf.yield %more : tensor<16x64xf32>
    }
    %written = tensor.insert_slice %by_keys into %done[%p, 0] [16, 64] [1, 1] : tensor<16x64xf32> into tensor<64x64xf32>
    scf.yield %written : tensor<64x64xf32>
  }
  %decay_empty = tensor.empty() : tensor<64xf32>
  %decay = linalg.exp ins(%last : tensor<64xf32>) outs(%decay_empty : tensor<64xf32>) -> tensor<64xf32>
  %decayed = linalg.generic {indexing_maps = [#r, #rc], iterator_types = ["parallel", "parallel"]}
      ins(%decay : tensor<64xf32>) outs(%s : tensor<64x64xf32>) {
  ^bb0(%de: f32, %se: f32):
    %m = arith.mulf %de, %se : f32
    linalg.yield %m : f32
  } -> tensor<64x64xf32>
  %s_next = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>,
                                           affine_map<(m, n, k) -> (k, n)>,
                                           affine_map<(m, n, k) -> (m, n)>]
      ins(%scaled#2, %vt : tensor<64x64xf32>, tensor<64x64xf32>) outs(%decayed : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %o_tile, %s_next : tensor<64x64xf32>, tensor<64x64xf32>
}

func.func @gla(%q: tensor<2x200x64xf32>, %k: tensor<2x200x64xf32>, %v: tensor<2x200x64xf32>, %g: tensor<2x200x64xf32>,
                     %starts: tensor<4xi32>, %state: tensor<3x2x64x64xf32>) -> (tensor<2x200x64xf32>, tensor<3x2x64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant -1 : index
  %chunk = arith.constant 64 : index
  %o_empty = tensor.empty() : tensor<2x200x64xf32>
  %state_empty = tensor.empty() : tensor<3x2x64x64xf32>
  %all:2 = scf.forall (%sequence, %head) in (3, 2)
      shared_outs(%o_out = %o_empty, %state_out = %state_empty) -> (tensor<2x200x64xf32>, tensor<3x2x64x64xf32>) {
    %next_sequence = arith.addi %sequence, %c1 : index
    %start32 = tensor.extract %starts[%sequence] : tensor<4xi32>
    %end32 = tensor.extract %starts[%next_sequence] : tensor<4xi32>
    %start = arith.index_cast %start32 : i32 to index
    %end = arith.index_cast %end32 : i32 to index
    %length = arith.subi %end, %start : index
    %qs = tensor.extract_slice %q[%head, %start, 0] [1, %length, 64] [1, 1, 1] : tensor<2x200x64xf32> to tensor<?x64xf32>
    %ks = tensor.extract_slice %k[%head, %start, 0] [1, %length, 64] [1, 1, 1] : tensor<2x200x64xf32> to tensor<?x64xf32>
    %vs = tensor.extract_slice %v[%head, %start, 0] [1, %length, 64] [1, 1, 1] : tensor<2x200x64xf32> to tensor<?x64xf32>
    %gs = tensor.extract_slice %g[%head, %start, 0] [1, %length, 64] [1, 1, 1] : tensor<2x200x64xf32> to tensor<?x64xf32>
    %os = tensor.extract_slice %o_out[%head, %start, 0] [1, %length, 64] [1, 1, 1] : tensor<2x200x64xf32> to tensor<?x64xf32>
    %s_in = tensor.extract_slice %state[%sequence, %head, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : tensor<3x2x64x64xf32> to tensor<64x64xf32>
    %s_slot = tensor.extract_slice %state_out[%sequence, %head, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : tensor<3x2x64x64xf32> to tensor<64x64xf32>
    %s_first = linalg.copy ins(%s_in : tensor<64x64xf32>) outs(%s_slot : tensor<64x64xf32>) -> tensor<64x64xf32>

    // Chunk by chunk; the state is a tile carried through the loop.
    %rest = affine.apply affine_map<()[n] -> (n floordiv 64 * 64)>()[%length]
    %full:2 = scf.for %at = %c0 to %rest step %chunk iter_args(%o = %os, %s = %s_first) -> (tensor<?x64xf32>, tensor<64x64xf32>) {
      %qt = tensor.extract_slice %qs[%at, 0] [64, 64] [1, 1] : tensor<?x64xf32> to tensor<64x64xf32>
      %kt = tensor.extract_slice %ks[%at, 0] [64, 64] [1, 1] : tensor<?x64xf32> to tensor<64x64xf32>
      %vt = tensor.extract_slice %vs[%at, 0] [64, 64] [1, 1] : tensor<?x64xf32> to tensor<64x64xf32>
      %gt = tensor.extract_slice %gs[%at, 0] [64, 64] [1, 1] : tensor<?x64xf32> to tensor<64x64xf32>
      %o_tile, %s_next = func.call @chunk(%qt, %kt, %vt, %gt, %s) : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>)
      %o_next = tensor.insert_slice %o_tile into %o[%at, 0] [64, 64] [1, 1] : tensor<64x64xf32> into tensor<?x64xf32>
      scf.yield %o_next, %s_next : tensor<?x64xf32>, tensor<64x64xf32>
    }
    // The last tokens, if any: a chunk that is filled up with absent rows, whose gates exp(0) = 1 change nothing.
    %chunks:2 = scf.for %at = %rest to %length step %chunk iter_args(%o = %full#0, %s = %full#1) -> (tensor<?x64xf32>, tensor<64x64xf32>) {
      // The chunk's tokens; past the end of the sequence -1, which names no row.
      %rows_empty = tensor.empty() : tensor<64xindex>
      %rows = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]}
          outs(%rows_empty : tensor<64xindex>) {
      ^bb0(%old: index):
        %i = linalg.index 0 : index
        %token = arith.addi %at, %i : index
        %inside = arith.cmpi slt, %token, %length : index
        %named = arith.select %inside, %token, %none : index
        linalg.yield %named : index
      } -> tensor<64xindex>
      %tile_empty = tensor.empty() : tensor<64x64xf32>
      %gate_empty = tensor.empty() : tensor<64x64xf32>
      %qt = block.gather %qs[%rows] outs(%tile_empty) : tensor<?x64xf32>[tensor<64xindex>] -> tensor<64x64xf32>
      %kt = block.gather %ks[%rows] outs(%tile_empty) : tensor<?x64xf32>[tensor<64xindex>] -> tensor<64x64xf32>
      %vt = block.gather %vs[%rows] outs(%tile_empty) : tensor<?x64xf32>[tensor<64xindex>] -> tensor<64x64xf32>
      %gt = block.gather %gs[%rows] outs(%gate_empty) : tensor<?x64xf32>[tensor<64xindex>] -> tensor<64x64xf32>
      %o_tile, %s_next = func.call @chunk(%qt, %kt, %vt, %gt, %s) : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>)
      %o_next = block.scatter %o_tile into %o[%rows] : tensor<64x64xf32> into tensor<?x64xf32>[tensor<64xindex>]
      scf.yield %o_next, %s_next : tensor<?x64xf32>, tensor<64x64xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %chunks#0 into %o_out[%head, %start, 0] [1, %length, 64] [1, 1, 1] : tensor<?x64xf32> into tensor<2x200x64xf32>
      tensor.parallel_insert_slice %chunks#1 into %state_out[%sequence, %head, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : tensor<64x64xf32> into tensor<3x2x64x64xf32>
    }
  }
  return %all#0, %all#1 : tensor<2x200x64xf32>, tensor<3x2x64x64xf32>
}
