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
// q, k, v, o in bf16, the rest in f32. The state goes on by 16 tokens at a time. With gamma = exp(g) <= 1, all
// decays are products of gammas between two tokens:
//   q^_i = q_i prod_(l <= i) gamma_l       what a query sees of the state before its step
//   k^_j = k_j prod_(l > j) gamma_l        what a key leaves in the state behind it
//   S <- diag(prod gamma_l) S + k^^T v
// Scores within a step come by halving: for b = 8, 4, 2, 1 tokens i > j whose numbers differ in bit b, and in no
// higher one, lie on both sides of the middle of 2 b tokens. X_b holds queries behind the middle, with the gates from
// there on, and keys in front of it, with the gates up to there; their scores are in X_b X_b^T.
#id = affine_map<(i) -> (i)>
#rc = affine_map<(r, c) -> (r, c)>
#r  = affine_map<(r, c) -> (r)>
#s  = affine_map<(b, r, c) -> (b, r, c)>

// One chunk of 4 steps: outputs of its tokens and the state after it.
func.func private @chunk(%qt: tensor<64x64xbf16>, %kt: tensor<64x64xbf16>, %vt: tensor<64x64xbf16>, %gt: tensor<64x64xf32>, %s: tensor<64x64xf32>) -> (tensor<64x64xbf16>, tensor<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %scale = arith.constant 0.125 : f32
  %c0 = arith.constant 0 : index
  %step = arith.constant 16 : index
  %chunk = arith.constant 64 : index
  %wide_empty = tensor.empty() : tensor<64x64xf32>
  %tile_empty = tensor.empty() : tensor<64x64xbf16>
  %gamma = linalg.exp ins(%gt : tensor<64x64xf32>) outs(%wide_empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %since_groups = tensor.expand_shape %gamma [[0, 1], [2]] output_shape [4, 16, 64]
      : tensor<64x64xf32> into tensor<4x16x64xf32>
  %since_empty = tensor.empty() : tensor<4x16x64xf32>
  %since_products = block.scan mul %since_groups along 1 outs(%since_empty) : tensor<4x16x64xf32> -> tensor<4x16x64xf32>
  %since = tensor.collapse_shape %since_products [[0, 1], [2]] : tensor<4x16x64xf32> into tensor<64x64xf32>
  %until_groups = tensor.expand_shape %gamma [[0, 1], [2]] output_shape [4, 16, 64]
      : tensor<64x64xf32> into tensor<4x16x64xf32>
  %until_empty = tensor.empty() : tensor<4x16x64xf32>
  %until_products = block.scan mul exclusive reverse %until_groups along 1 outs(%until_empty) : tensor<4x16x64xf32> -> tensor<4x16x64xf32>
  %until = tensor.collapse_shape %until_products [[0, 1], [2]] : tensor<4x16x64xf32> into tensor<64x64xf32>
  %since8_groups = tensor.expand_shape %gamma [[0, 1], [2]] output_shape [8, 8, 64]
      : tensor<64x64xf32> into tensor<8x8x64xf32>
  %since8_empty = tensor.empty() : tensor<8x8x64xf32>
  %since8_products = block.scan mul %since8_groups along 1 outs(%since8_empty) : tensor<8x8x64xf32> -> tensor<8x8x64xf32>
  %since8 = tensor.collapse_shape %since8_products [[0, 1], [2]] : tensor<8x8x64xf32> into tensor<64x64xf32>
  %until8_groups = tensor.expand_shape %gamma [[0, 1], [2]] output_shape [8, 8, 64]
      : tensor<64x64xf32> into tensor<8x8x64xf32>
  %until8_empty = tensor.empty() : tensor<8x8x64xf32>
  %until8_products = block.scan mul exclusive reverse %until8_groups along 1 outs(%until8_empty) : tensor<8x8x64xf32> -> tensor<8x8x64xf32>
  %until8 = tensor.collapse_shape %until8_products [[0, 1], [2]] : tensor<8x8x64xf32> into tensor<64x64xf32>
  %since4_groups = tensor.expand_shape %gamma [[0, 1], [2]] output_shape [16, 4, 64]
      : tensor<64x64xf32> into tensor<16x4x64xf32>
  %since4_empty = tensor.empty() : tensor<16x4x64xf32>
  %since4_products = block.scan mul %since4_groups along 1 outs(%since4_empty) : tensor<16x4x64xf32> -> tensor<16x4x64xf32>
  %since4 = tensor.collapse_shape %since4_products [[0, 1], [2]] : tensor<16x4x64xf32> into tensor<64x64xf32>
  %until4_groups = tensor.expand_shape %gamma [[0, 1], [2]] output_shape [16, 4, 64]
      : tensor<64x64xf32> into tensor<16x4x64xf32>
  %until4_empty = tensor.empty() : tensor<16x4x64xf32>
  %until4_products = block.scan mul exclusive reverse %until4_groups along 1 outs(%until4_empty) : tensor<16x4x64xf32> -> tensor<16x4x64xf32>
  %until4 = tensor.collapse_shape %until4_products [[0, 1], [2]] : tensor<16x4x64xf32> into tensor<64x64xf32>
  %since2_groups = tensor.expand_shape %gamma [[0, 1], [2]] output_shape [32, 2, 64]
      : tensor<64x64xf32> into tensor<32x2x64xf32>
  %since2_empty = tensor.empty() : tensor<32x2x64xf32>
  %since2_products = block.scan mul %since2_groups along 1 outs(%since2_empty) : tensor<32x2x64xf32> -> tensor<32x2x64xf32>
  %since2 = tensor.collapse_shape %since2_products [[0, 1], [2]] : tensor<32x2x64xf32> into tensor<64x64xf32>
  %until2_groups = tensor.expand_shape %gamma [[0, 1], [2]] output_shape [32, 2, 64]
      : tensor<64x64xf32> into tensor<32x2x64xf32>
  %until2_empty = tensor.empty() : tensor<32x2x64xf32>
  %until2_products = block.scan mul exclusive reverse %until2_groups along 1 outs(%until2_empty) : tensor<32x2x64xf32> -> tensor<32x2x64xf32>
  %until2 = tensor.collapse_shape %until2_products [[0, 1], [2]] : tensor<32x2x64xf32> into tensor<64x64xf32>

  // How much a state decays in a step.
  %gamma_steps = tensor.expand_shape %gamma [[0, 1], [2]] output_shape [4, 16, 64]
      : tensor<64x64xf32> into tensor<4x16x64xf32>
  %decay_empty = tensor.empty() : tensor<4x64xf32>
  %no_decay = linalg.fill ins(%one : f32) outs(%decay_empty : tensor<4x64xf32>) -> tensor<4x64xf32>
  %decays = linalg.reduce ins(%gamma_steps : tensor<4x16x64xf32>) outs(%no_decay : tensor<4x64xf32>) dimensions = [1]
    (%gamma_e: f32, %so_far: f32) {
      %product = arith.mulf %so_far, %gamma_e : f32
      linalg.yield %product : f32
    }

  %mixed:6 = linalg.generic {indexing_maps = [#rc, #rc, #rc, #rc, #rc, #rc, #rc, #rc, #rc, #rc, #rc, #rc, #rc, #rc, #rc, #rc, #rc],
                              iterator_types = ["parallel", "parallel"]}
      ins(%qt, %kt, %gamma, %since, %until, %since8, %until8, %since4, %until4, %since2, %until2
        : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%tile_empty, %tile_empty, %tile_empty, %tile_empty, %tile_empty, %tile_empty : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>) {
  ^bb0(%qt_e: bf16, %kt_e: bf16, %gamma_e: f32, %since_e: f32, %until_e: f32, %since8_e: f32, %until8_e: f32, %since4_e: f32, %until4_e: f32, %since2_e: f32, %until2_e: f32, %o0: bf16, %o1: bf16, %o2: bf16, %o3: bf16, %o4: bf16, %o5: bf16):
    %r = linalg.index 0 : index
    %q = arith.extf %qt_e : bf16 to f32
    %k = arith.extf %kt_e : bf16 to f32
    %q_scaled = arith.mulf %q, %scale : f32
    %q_state = arith.mulf %q_scaled, %since_e : f32
    %q_hat = arith.truncf %q_state : f32 to bf16
    %k_state = arith.mulf %k, %until_e : f32
    %k_hat = arith.truncf %k_state : f32 to bf16
    %q8 = arith.mulf %q, %since8_e : f32
    %k8 = arith.mulf %k, %until8_e : f32
    %level8 = arith.constant 8 : index
    %bit8 = arith.andi %r, %level8 : index
    %late8 = arith.cmpi ne, %bit8, %c0 : index
    %x8_wide = arith.select %late8, %q8, %k8 : f32
    %x8 = arith.truncf %x8_wide : f32 to bf16
    %q4 = arith.mulf %q, %since4_e : f32
    %k4 = arith.mulf %k, %until4_e : f32
    %level4 = arith.constant 4 : index
    %bit4 = arith.andi %r, %level4 : index
    %late4 = arith.cmpi ne, %bit4, %c0 : index
    %x4_wide = arith.select %late4, %q4, %k4 : f32
    %x4 = arith.truncf %x4_wide : f32 to bf16
    %q2 = arith.mulf %q, %since2_e : f32
    %k2 = arith.mulf %k, %until2_e : f32
    %level2 = arith.constant 2 : index
    %bit2 = arith.andi %r, %level2 : index
    %late2 = arith.cmpi ne, %bit2, %c0 : index
    %x2_wide = arith.select %late2, %q2, %k2 : f32
    %x2 = arith.truncf %x2_wide : f32 to bf16
    %q1 = arith.mulf %q, %gamma_e : f32
    %k1 = arith.mulf %k, %one : f32
    %level1 = arith.constant 1 : index
    %bit1 = arith.andi %r, %level1 : index
    %late1 = arith.cmpi ne, %bit1, %c0 : index
    %x1_wide = arith.select %late1, %q1, %k1 : f32
    %x1 = arith.truncf %x1_wide : f32 to bf16
    linalg.yield %q_hat, %k_hat, %x8, %x4, %x2, %x1 : bf16, bf16, bf16, bf16, bf16, bf16
  } -> (tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>)

  %scores_empty = tensor.empty() : tensor<4x16x16xf32>
  %no_scores = linalg.fill ins(%zero : f32) outs(%scores_empty : tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %p0_l = tensor.expand_shape %qt [[0, 1], [2]] output_shape [4, 16, 64] : tensor<64x64xbf16> into tensor<4x16x64xbf16>
  %p0_r = tensor.expand_shape %kt [[0, 1], [2]] output_shape [4, 16, 64] : tensor<64x64xbf16> into tensor<4x16x64xbf16>
  %p0 = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,
                                                 affine_map<(b, m, n, k) -> (b, n, k)>,
                                                 affine_map<(b, m, n, k) -> (b, m, n)>]
      ins(%p0_l, %p0_r : tensor<4x16x64xbf16>, tensor<4x16x64xbf16>) outs(%no_scores : tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %p8_l = tensor.expand_shape %mixed#2 [[0, 1], [2]] output_shape [4, 16, 64] : tensor<64x64xbf16> into tensor<4x16x64xbf16>
  %p8_r = tensor.expand_shape %mixed#2 [[0, 1], [2]] output_shape [4, 16, 64] : tensor<64x64xbf16> into tensor<4x16x64xbf16>
  %p8 = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,
                                                 affine_map<(b, m, n, k) -> (b, n, k)>,
                                                 affine_map<(b, m, n, k) -> (b, m, n)>]
      ins(%p8_l, %p8_r : tensor<4x16x64xbf16>, tensor<4x16x64xbf16>) outs(%no_scores : tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %p4_l = tensor.expand_shape %mixed#3 [[0, 1], [2]] output_shape [4, 16, 64] : tensor<64x64xbf16> into tensor<4x16x64xbf16>
  %p4_r = tensor.expand_shape %mixed#3 [[0, 1], [2]] output_shape [4, 16, 64] : tensor<64x64xbf16> into tensor<4x16x64xbf16>
  %p4 = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,
                                                 affine_map<(b, m, n, k) -> (b, n, k)>,
                                                 affine_map<(b, m, n, k) -> (b, m, n)>]
      ins(%p4_l, %p4_r : tensor<4x16x64xbf16>, tensor<4x16x64xbf16>) outs(%no_scores : tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %p2_l = tensor.expand_shape %mixed#4 [[0, 1], [2]] output_shape [4, 16, 64] : tensor<64x64xbf16> into tensor<4x16x64xbf16>
  %p2_r = tensor.expand_shape %mixed#4 [[0, 1], [2]] output_shape [4, 16, 64] : tensor<64x64xbf16> into tensor<4x16x64xbf16>
  %p2 = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,
                                                 affine_map<(b, m, n, k) -> (b, n, k)>,
                                                 affine_map<(b, m, n, k) -> (b, m, n)>]
      ins(%p2_l, %p2_r : tensor<4x16x64xbf16>, tensor<4x16x64xbf16>) outs(%no_scores : tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %p1_l = tensor.expand_shape %mixed#5 [[0, 1], [2]] output_shape [4, 16, 64] : tensor<64x64xbf16> into tensor<4x16x64xbf16>
  %p1_r = tensor.expand_shape %mixed#5 [[0, 1], [2]] output_shape [4, 16, 64] : tensor<64x64xbf16> into tensor<4x16x64xbf16>
  %p1 = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,
                                                 affine_map<(b, m, n, k) -> (b, n, k)>,
                                                 affine_map<(b, m, n, k) -> (b, m, n)>]
      ins(%p1_l, %p1_r : tensor<4x16x64xbf16>, tensor<4x16x64xbf16>) outs(%no_scores : tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %seen_empty = tensor.empty() : tensor<4x16x16xbf16>
  %seen = linalg.generic {indexing_maps = [#s, #s, #s, #s, #s, #s], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p0, %p8, %p4, %p2, %p1 : tensor<4x16x16xf32>, tensor<4x16x16xf32>, tensor<4x16x16xf32>, tensor<4x16x16xf32>, tensor<4x16x16xf32>) outs(%seen_empty : tensor<4x16x16xbf16>) {
  ^bb0(%p0_e: f32, %p8_e: f32, %p4_e: f32, %p2_e: f32, %p1_e: f32, %old: bf16):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %d = arith.xori %i, %j : index
    %level1 = arith.constant 1 : index
    %apart1 = arith.cmpi sge, %d, %level1 : index
    %s1 = arith.select %apart1, %p1_e, %p0_e : f32
    %level2 = arith.constant 2 : index
    %apart2 = arith.cmpi sge, %d, %level2 : index
    %s2 = arith.select %apart2, %p2_e, %s1 : f32
    %level4 = arith.constant 4 : index
    %apart4 = arith.cmpi sge, %d, %level4 : index
    %s4 = arith.select %apart4, %p4_e, %s2 : f32
    %level8 = arith.constant 8 : index
    %apart8 = arith.cmpi sge, %d, %level8 : index
    %s8 = arith.select %apart8, %p8_e, %s4 : f32
    %after = arith.cmpi sge, %i, %j : index
    %kept = arith.select %after, %s8, %zero : f32
    %scaled = arith.mulf %kept, %scale : f32
    %narrow = arith.truncf %scaled : f32 to bf16
    linalg.yield %narrow : bf16
  } -> tensor<4x16x16xbf16>
  %p = tensor.collapse_shape %seen [[0, 1], [2]] : tensor<4x16x16xbf16> into tensor<64x16xbf16>

  %all:2 = scf.for %at = %c0 to %chunk step %step iter_args(%o = %tile_empty, %before = %s) -> (tensor<64x64xbf16>, tensor<64x64xf32>) {
    %number = arith.divui %at, %step : index
    %qp = tensor.extract_slice %mixed#0[%at, 0] [16, 64] [1, 1] : tensor<64x64xbf16> to tensor<16x64xbf16>
    %kp = tensor.extract_slice %mixed#1[%at, 0] [16, 64] [1, 1] : tensor<64x64xbf16> to tensor<16x64xbf16>
    %vp = tensor.extract_slice %vt[%at, 0] [16, 64] [1, 1] : tensor<64x64xbf16> to tensor<16x64xbf16>
    %pp = tensor.extract_slice %p[%at, 0] [16, 16] [1, 1] : tensor<64x16xbf16> to tensor<16x16xbf16>
    %decay = tensor.extract_slice %decays[%number, 0] [1, 64] [1, 1] : tensor<4x64xf32> to tensor<64xf32>
    %state_empty = tensor.empty() : tensor<64x64xbf16>
    %narrow = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]}
        ins(%before : tensor<64x64xf32>) outs(%state_empty : tensor<64x64xbf16>) {
    ^bb0(%se: f32, %old: bf16):
      %n = arith.truncf %se : f32 to bf16
      linalg.yield %n : bf16
    } -> tensor<64x64xbf16>
    %sums_empty = tensor.empty() : tensor<16x64xf32>
    %nothing = linalg.fill ins(%zero : f32) outs(%sums_empty : tensor<16x64xf32>) -> tensor<16x64xf32>
    %by_state = linalg.matmul ins(%qp, %narrow : tensor<16x64xbf16>, tensor<64x64xbf16>) outs(%nothing : tensor<16x64xf32>) -> tensor<16x64xf32>
    %by_keys = linalg.matmul ins(%pp, %vp : tensor<16x16xbf16>, tensor<16x64xbf16>) outs(%by_state : tensor<16x64xf32>) -> tensor<16x64xf32>
    %strip_empty = tensor.empty() : tensor<16x64xbf16>
    %out = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]}
        ins(%by_keys : tensor<16x64xf32>) outs(%strip_empty : tensor<16x64xbf16>) {
    ^bb0(%oe: f32, %old: bf16):
      %n = arith.truncf %oe : f32 to bf16
      linalg.yield %n : bf16
    } -> tensor<16x64xbf16>
    %o_next = tensor.insert_slice %out into %o[%at, 0] [16, 64] [1, 1] : tensor<16x64xbf16> into tensor<64x64xbf16>
    %decayed = linalg.generic {indexing_maps = [#r, #rc], iterator_types = ["parallel", "parallel"]}
        ins(%decay : tensor<64xf32>) outs(%before : tensor<64x64xf32>) {
    ^bb0(%de: f32, %se: f32):
      %m = arith.mulf %de, %se : f32
      linalg.yield %m : f32
    } -> tensor<64x64xf32>
    %after = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>,
                                            affine_map<(m, n, k) -> (k, n)>,
                                            affine_map<(m, n, k) -> (m, n)>]
        ins(%kp, %vp : tensor<16x64xbf16>, tensor<16x64xbf16>) outs(%decayed : tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %o_next, %after : tensor<64x64xbf16>, tensor<64x64xf32>
  }
  return %all#0, %all#1 : tensor<64x64xbf16>, tensor<64x64xf32>
}

func.func @gla_steps(%q: tensor<2x200x64xbf16>, %k: tensor<2x200x64xbf16>, %v: tensor<2x200x64xbf16>, %g: tensor<2x200x64xf32>,
                     %starts: tensor<4xi32>, %state: tensor<3x2x64x64xf32>) -> (tensor<2x200x64xbf16>, tensor<3x2x64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant -1 : index
  %chunk = arith.constant 64 : index
  %o_empty = tensor.empty() : tensor<2x200x64xbf16>
  %state_empty = tensor.empty() : tensor<3x2x64x64xf32>
  %all:2 = scf.forall (%sequence, %head) in (3, 2)
      shared_outs(%o_out = %o_empty, %state_out = %state_empty) -> (tensor<2x200x64xbf16>, tensor<3x2x64x64xf32>) {
    %next_sequence = arith.addi %sequence, %c1 : index
    %start32 = tensor.extract %starts[%sequence] : tensor<4xi32>
    %end32 = tensor.extract %starts[%next_sequence] : tensor<4xi32>
    %start = arith.index_cast %start32 : i32 to index
    %end = arith.index_cast %end32 : i32 to index
    %length = arith.subi %end, %start : index
    %qs = tensor.extract_slice %q[%head, %start, 0] [1, %length, 64] [1, 1, 1] : tensor<2x200x64xbf16> to tensor<?x64xbf16>
    %ks = tensor.extract_slice %k[%head, %start, 0] [1, %length, 64] [1, 1, 1] : tensor<2x200x64xbf16> to tensor<?x64xbf16>
    %vs = tensor.extract_slice %v[%head, %start, 0] [1, %length, 64] [1, 1, 1] : tensor<2x200x64xbf16> to tensor<?x64xbf16>
    %gs = tensor.extract_slice %g[%head, %start, 0] [1, %length, 64] [1, 1, 1] : tensor<2x200x64xf32> to tensor<?x64xf32>
    %os = tensor.extract_slice %o_out[%head, %start, 0] [1, %length, 64] [1, 1, 1] : tensor<2x200x64xbf16> to tensor<?x64xbf16>
    %s_in = tensor.extract_slice %state[%sequence, %head, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : tensor<3x2x64x64xf32> to tensor<64x64xf32>
    %s_slot = tensor.extract_slice %state_out[%sequence, %head, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : tensor<3x2x64x64xf32> to tensor<64x64xf32>
    %s_first = linalg.copy ins(%s_in : tensor<64x64xf32>) outs(%s_slot : tensor<64x64xf32>) -> tensor<64x64xf32>

    // Chunk by chunk; the state is a tile carried through the loop.
    %rest = affine.apply affine_map<()[n] -> (n floordiv 64 * 64)>()[%length]
    %full:2 = scf.for %at = %c0 to %rest step %chunk iter_args(%o = %os, %s = %s_first) -> (tensor<?x64xbf16>, tensor<64x64xf32>) {
      %qt = tensor.extract_slice %qs[%at, 0] [64, 64] [1, 1] : tensor<?x64xbf16> to tensor<64x64xbf16>
      %kt = tensor.extract_slice %ks[%at, 0] [64, 64] [1, 1] : tensor<?x64xbf16> to tensor<64x64xbf16>
      %vt = tensor.extract_slice %vs[%at, 0] [64, 64] [1, 1] : tensor<?x64xbf16> to tensor<64x64xbf16>
      %gt = tensor.extract_slice %gs[%at, 0] [64, 64] [1, 1] : tensor<?x64xf32> to tensor<64x64xf32>
      %o_tile, %s_next = func.call @chunk(%qt, %kt, %vt, %gt, %s) : (tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x64xbf16>, tensor<64x64xf32>)
      %o_next = tensor.insert_slice %o_tile into %o[%at, 0] [64, 64] [1, 1] : tensor<64x64xbf16> into tensor<?x64xbf16>
      scf.yield %o_next, %s_next : tensor<?x64xbf16>, tensor<64x64xf32>
    }
    // The last tokens, if any: a chunk that is filled up with absent rows, whose gates exp(0) = 1 change nothing.
    %chunks:2 = scf.for %at = %rest to %length step %chunk iter_args(%o = %full#0, %s = %full#1) -> (tensor<?x64xbf16>, tensor<64x64xf32>) {
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
      %tile_empty = tensor.empty() : tensor<64x64xbf16>
      %gate_empty = tensor.empty() : tensor<64x64xf32>
      %qt = block.gather %qs[%rows] outs(%tile_empty) : tensor<?x64xbf16>[tensor<64xindex>] -> tensor<64x64xbf16>
      %kt = block.gather %ks[%rows] outs(%tile_empty) : tensor<?x64xbf16>[tensor<64xindex>] -> tensor<64x64xbf16>
      %vt = block.gather %vs[%rows] outs(%tile_empty) : tensor<?x64xbf16>[tensor<64xindex>] -> tensor<64x64xbf16>
      %gt = block.gather %gs[%rows] outs(%gate_empty) : tensor<?x64xf32>[tensor<64xindex>] -> tensor<64x64xf32>
      %o_tile, %s_next = func.call @chunk(%qt, %kt, %vt, %gt, %s) : (tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x64xbf16>, tensor<64x64xf32>)
      %o_next = block.scatter %o_tile into %o[%rows] : tensor<64x64xbf16> into tensor<?x64xbf16>[tensor<64xindex>]
      scf.yield %o_next, %s_next : tensor<?x64xbf16>, tensor<64x64xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %chunks#0 into %o_out[%head, %start, 0] [1, %length, 64] [1, 1, 1] : tensor<?x64xbf16> into tensor<2x200x64xbf16>
      tensor.parallel_insert_slice %chunks#1 into %state_out[%sequence, %head, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : tensor<64x64xf32> into tensor<3x2x64x64xf32>
    }
  }
  return %all#0, %all#1 : tensor<2x200x64xbf16>, tensor<3x2x64x64xf32>
}
