// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written by generate.py: change it there.
//
// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s
// CHECK: scf.forall
//
// Group-rational backward: dx and the sums of ten coefficient gradients.
//   y = P / Q,  P = a0 + a1 x + ... + a5 x^5,  A = b1 x + ... + b4 x^4,  Q = 1 + |A|
//   dx  = dy/Q (P' - y sign(A) A'),  da_k = sum dy/Q x^k,  db_k = -sum dy/Q y sign(A) x^k
// 32 rows, 2 groups of 24 features, 24 = 3 steps of 8 lanes.
#element = affine_map<(r, g, s, l) -> (r, g, s, l)>
#group   = affine_map<(r, g, s, l) -> (g)>
#lane    = affine_map<(r, g, s, l) -> (g, l)>

func.func @group_rational_backward(
    %x: tensor<32x2x3x8xf32>, %dy: tensor<32x2x3x8xf32>, %a: tensor<6x2xf32>, %b: tensor<4x2xf32>)
    -> (tensor<32x2x3x8xf32>, tensor<6x2xf32>, tensor<4x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %tile_rows = arith.constant 1 : index
  %block_rows = arith.constant 16 : index
  %a0 = tensor.extract_slice %a[0, 0] [1, 2] [1, 1] : tensor<6x2xf32> to tensor<2xf32>
  %a1 = tensor.extract_slice %a[1, 0] [1, 2] [1, 1] : tensor<6x2xf32> to tensor<2xf32>
  %a2 = tensor.extract_slice %a[2, 0] [1, 2] [1, 1] : tensor<6x2xf32> to tensor<2xf32>
  %a3 = tensor.extract_slice %a[3, 0] [1, 2] [1, 1] : tensor<6x2xf32> to tensor<2xf32>
  %a4 = tensor.extract_slice %a[4, 0] [1, 2] [1, 1] : tensor<6x2xf32> to tensor<2xf32>
  %a5 = tensor.extract_slice %a[5, 0] [1, 2] [1, 1] : tensor<6x2xf32> to tensor<2xf32>
  %b1 = tensor.extract_slice %b[0, 0] [1, 2] [1, 1] : tensor<4x2xf32> to tensor<2xf32>
  %b2 = tensor.extract_slice %b[1, 0] [1, 2] [1, 1] : tensor<4x2xf32> to tensor<2xf32>
  %b3 = tensor.extract_slice %b[2, 0] [1, 2] [1, 1] : tensor<4x2xf32> to tensor<2xf32>
  %b4 = tensor.extract_slice %b[3, 0] [1, 2] [1, 1] : tensor<4x2xf32> to tensor<2xf32>
  %dx_empty = tensor.empty() : tensor<32x2x3x8xf32>
  %parts_empty = tensor.empty() : tensor<2x2x8xf32>
  // First stage: each block of rows writes its rows of dx and one partial sum
  // per coefficient, group and lane.
  %blocks:11 = scf.forall (%block) in (2) shared_outs(
      %dx_out = %dx_empty,
      %a0_out = %parts_empty, %a1_out = %parts_empty, %a2_out = %parts_empty, %a3_out = %parts_empty, %a4_out = %parts_empty,
      %a5_out = %parts_empty, %b1_out = %parts_empty, %b2_out = %parts_empty, %b3_out = %parts_empty, %b4_out = %parts_empty)
      -> (tensor<32x2x3x8xf32>, tensor<2x2x8xf32>, tensor<2x2x8xf32>, tensor<2x2x8xf32>, tensor<2x2x8xf32>, tensor<2x2x8xf32>,
          tensor<2x2x8xf32>, tensor<2x2x8xf32>, tensor<2x2x8xf32>, tensor<2x2x8xf32>, tensor<2x2x8xf32>) {
    %first = affine.apply affine_map<(i) -> (i * 16)>(%block)
    %dx_block = tensor.extract_slice %dx_out[%first, 0, 0, 0] [16, 2, 3, 8] [1, 1, 1, 1] : tensor<32x2x3x8xf32> to tensor<16x2x3x8xf32>
    %a0_slot = tensor.extract_slice %a0_out[%block, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<2x2x8xf32> to tensor<2x8xf32>
    %a0_zero = linalg.fill ins(%zero : f32) outs(%a0_slot : tensor<2x8xf32>) -> tensor<2x8xf32>
    %a1_slot = tensor.extract_slice %a1_out[%block, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<2x2x8xf32> to tensor<2x8xf32>
    %a1_zero = linalg.fill ins(%zero : f32) outs(%a1_slot : tensor<2x8xf32>) -> tensor<2x8xf32>
    %a2_slot = tensor.extract_slice %a2_out[%block, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<2x2x8xf32> to tensor<2x8xf32>
    %a2_zero = linalg.fill ins(%zero : f32) outs(%a2_slot : tensor<2x8xf32>) -> tensor<2x8xf32>
    %a3_slot = tensor.extract_slice %a3_out[%block, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<2x2x8xf32> to tensor<2x8xf32>
    %a3_zero = linalg.fill ins(%zero : f32) outs(%a3_slot : tensor<2x8xf32>) -> tensor<2x8xf32>
    %a4_slot = tensor.extract_slice %a4_out[%block, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<2x2x8xf32> to tensor<2x8xf32>
    %a4_zero = linalg.fill ins(%zero : f32) outs(%a4_slot : tensor<2x8xf32>) -> tensor<2x8xf32>
    %a5_slot = tensor.extract_slice %a5_out[%block, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<2x2x8xf32> to tensor<2x8xf32>
    %a5_zero = linalg.fill ins(%zero : f32) outs(%a5_slot : tensor<2x8xf32>) -> tensor<2x8xf32>
    %b1_slot = tensor.extract_slice %b1_out[%block, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<2x2x8xf32> to tensor<2x8xf32>
    %b1_zero = linalg.fill ins(%zero : f32) outs(%b1_slot : tensor<2x8xf32>) -> tensor<2x8xf32>
    %b2_slot = tensor.extract_slice %b2_out[%block, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<2x2x8xf32> to tensor<2x8xf32>
    %b2_zero = linalg.fill ins(%zero : f32) outs(%b2_slot : tensor<2x8xf32>) -> tensor<2x8xf32>
    %b3_slot = tensor.extract_slice %b3_out[%block, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<2x2x8xf32> to tensor<2x8xf32>
    %b3_zero = linalg.fill ins(%zero : f32) outs(%b3_slot : tensor<2x8xf32>) -> tensor<2x8xf32>
    %b4_slot = tensor.extract_slice %b4_out[%block, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<2x2x8xf32> to tensor<2x8xf32>
    %b4_zero = linalg.fill ins(%zero : f32) outs(%b4_slot : tensor<2x8xf32>) -> tensor<2x8xf32>
    // Tile by tile (1 row each); the sums are carried.
    %tiles:11 = scf.for %at = %c0 to %block_rows step %tile_rows
        iter_args(%dx = %dx_block, %a0_sum = %a0_zero, %a1_sum = %a1_zero, %a2_sum = %a2_zero, %a3_sum = %a3_zero, %a4_sum = %a4_zero, %a5_sum = %a5_zero, %b1_sum = %b1_zero, %b2_sum = %b2_zero, %b3_sum = %b3_zero, %b4_sum = %b4_zero)
        -> (tensor<16x2x3x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) {
      %row = arith.addi %first, %at : index
      %xt = tensor.extract_slice %x[%row, 0, 0, 0] [1, 2, 3, 8] [1, 1, 1, 1] : tensor<32x2x3x8xf32> to tensor<1x2x3x8xf32>
      %dyt = tensor.extract_slice %dy[%row, 0, 0, 0] [1, 2, 3, 8] [1, 1, 1, 1] : tensor<32x2x3x8xf32> to tensor<1x2x3x8xf32>
      %dxt = tensor.extract_slice %dx[%at, 0, 0, 0] [1, 2, 3, 8] [1, 1, 1, 1] : tensor<16x2x3x8xf32> to tensor<1x2x3x8xf32>
      %sums:11 = linalg.generic {
          indexing_maps = [#element, #element, #group, #group, #group, #group, #group, #group, #group, #group, #group, #group,
                           #element, #lane, #lane, #lane, #lane, #lane, #lane, #lane, #lane, #lane, #lane],
          iterator_types = ["reduction", "parallel", "reduction", "parallel"]}
          ins(%xt, %dyt, %a0, %a1, %a2, %a3, %a4, %a5, %b1, %b2, %b3, %b4 : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
          outs(%dxt, %a0_sum, %a1_sum, %a2_sum, %a3_sum, %a4_sum, %a5_sum, %b1_sum, %b2_sum, %b3_sum, %b4_sum : tensor<1x2x3x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) {
      ^bb0(%xe: f32, %dye: f32, %a0e: f32, %a1e: f32, %a2e: f32, %a3e: f32, %a4e: f32, %a5e: f32, %b1e: f32, %b2e: f32, %b3e: f32, %b4e: f32,
           %old: f32, %a0s: f32, %a1s: f32, %a2s: f32, %a3s: f32, %a4s: f32, %a5s: f32, %b1s: f32, %b2s: f32, %b3s: f32, %b4s: f32):
        // P and P' by one Horner scheme, A and A' by another.
        %p0 = math.fma %a5e, %xe, %a4e : f32
        %q1 = math.fma %a5e, %xe, %p0 : f32
        %p1 = math.fma %p0, %xe, %a3e : f32
        %q2 = math.fma %q1, %xe, %p1 : f32
        %p2 = math.fma %p1, %xe, %a2e : f32
        %q3 = math.fma %q2, %xe, %p2 : f32
        %p3 = math.fma %p2, %xe, %a1e : f32
        %dp = math.fma %q3, %xe, %p3 : f32
        %p = math.fma %p3, %xe, %a0e : f32
        %r0 = math.fma %b4e, %xe, %b3e : f32
        %s1 = math.fma %b4e, %xe, %r0 : f32
        %r1 = math.fma %r0, %xe, %b2e : f32
        %s2 = math.fma %s1, %xe, %r1 : f32
        %r2 = math.fma %r1, %xe, %b1e : f32
        %da = math.fma %s2, %xe, %r2 : f32
        %am = arith.mulf %r2, %xe : f32
        %abs = math.absf %am : f32
        %q = arith.addf %abs, %one : f32
        %inverse = arith.divf %one, %q : f32
        %g = arith.mulf %dye, %inverse : f32
        // y sign(A), the sign being that of A's sign bit.
        %signed = math.copysign %inverse, %am : f32
        %ys = arith.mulf %p, %signed : f32
        %minus = arith.negf %ys : f32
        %slope = math.fma %minus, %da, %dp : f32
        %dxe = arith.mulf %g, %slope : f32
        %h = arith.mulf %g, %ys : f32
        %x2 = arith.mulf %xe, %xe : f32
        %x3 = arith.mulf %x2, %xe : f32
        %x4 = arith.mulf %x2, %x2 : f32
        %x5 = arith.mulf %x4, %xe : f32
        %a0n = arith.addf %a0s, %g : f32
        %a1m = arith.mulf %g, %xe fastmath<contract> : f32
        %a1n = arith.addf %a1m, %a1s fastmath<contract> : f32
        %a2m = arith.mulf %g, %x2 fastmath<contract> : f32
        %a2n = arith.addf %a2m, %a2s fastmath<contract> : f32
        %a3m = arith.mulf %g, %x3 fastmath<contract> : f32
        %a3n = arith.addf %a3m, %a3s fastmath<contract> : f32
        %a4m = arith.mulf %g, %x4 fastmath<contract> : f32
        %a4n = arith.addf %a4m, %a4s fastmath<contract> : f32
        %a5m = arith.mulf %g, %x5 fastmath<contract> : f32
        %a5n = arith.addf %a5m, %a5s fastmath<contract> : f32
        %b1m = arith.mulf %h, %xe fastmath<contract> : f32
        %b1n = arith.subf %b1s, %b1m fastmath<contract> : f32
        %b2m = arith.mulf %h, %x2 fastmath<contract> : f32
        %b2n = arith.subf %b2s, %b2m fastmath<contract> : f32
        %b3m = arith.mulf %h, %x3 fastmath<contract> : f32
        %b3n = arith.subf %b3s, %b3m fastmath<contract> : f32
        %b4m = arith.mulf %h, %x4 fastmath<contract> : f32
        %b4n = arith.subf %b4s, %b4m fastmath<contract> : f32
        linalg.yield %dxe, %a0n, %a1n, %a2n, %a3n, %a4n, %a5n, %b1n, %b2n, %b3n, %b4n : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
      } -> (tensor<1x2x3x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>)
      %dx_next = tensor.insert_slice %sums#0 into %dx[%at, 0, 0, 0] [1, 2, 3, 8] [1, 1, 1, 1] : tensor<1x2x3x8xf32> into tensor<16x2x3x8xf32>
      scf.yield %dx_next, %sums#1, %sums#2, %sums#3, %sums#4, %sums#5, %sums#6, %sums#7, %sums#8, %sums#9, %sums#10 : tensor<16x2x3x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %tiles#0 into %dx_out[%first, 0, 0, 0] [16, 2, 3, 8] [1, 1, 1, 1] : tensor<16x2x3x8xf32> into tensor<32x2x3x8xf32>
      tensor.parallel_insert_slice %tiles#1 into %a0_out[%block, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<2x8xf32> into tensor<2x2x8xf32>
      tensor.parallel_insert_slice %tiles#2 into %a1_out[%block, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<2x8xf32> into tensor<2x2x8xf32>
      tensor.parallel_insert_slice %tiles#3 into %a2_out[%block, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<2x8xf32> into tensor<2x2x8xf32>
      tensor.parallel_insert_slice %tiles#4 into %a3_out[%block, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<2x8xf32> into tensor<2x2x8xf32>
      tensor.parallel_insert_slice %tiles#5 into %a4_out[%block, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<2x8xf32> into tensor<2x2x8xf32>
      tensor.parallel_insert_slice %tiles#6 into %a5_out[%block, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<2x8xf32> into tensor<2x2x8xf32>
      tensor.parallel_insert_slice %tiles#7 into %b1_out[%block, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<2x8xf32> into tensor<2x2x8xf32>
      tensor.parallel_insert_slice %tiles#8 into %b2_out[%block, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<2x8xf32> into tensor<2x2x8xf32>
      tensor.parallel_insert_slice %tiles#9 into %b3_out[%block, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<2x8xf32> into tensor<2x2x8xf32>
      tensor.parallel_insert_slice %tiles#10 into %b4_out[%block, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<2x8xf32> into tensor<2x2x8xf32>
    }
  }

  // Second stage: blocks and lanes are added in order.
  %a0_none = tensor.empty() : tensor<2xf32>
  %a0_start = linalg.fill ins(%zero : f32) outs(%a0_none : tensor<2xf32>) -> tensor<2xf32>
  %da0 = linalg.generic {
      indexing_maps = [affine_map<(g, k, l) -> (k, g, l)>, affine_map<(g, k, l) -> (g)>],
      iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%blocks#1 : tensor<2x2x8xf32>) outs(%a0_start : tensor<2xf32>) {
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  } -> tensor<2xf32>
  %a1_none = tensor.empty() : tensor<2xf32>
  %a1_start = linalg.fill ins(%zero : f32) outs(%a1_none : tensor<2xf32>) -> tensor<2xf32>
  %da1 = linalg.generic {
      indexing_maps = [affine_map<(g, k, l) -> (k, g, l)>, affine_map<(g, k, l) -> (g)>],
      iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%blocks#2 : tensor<2x2x8xf32>) outs(%a1_start : tensor<2xf32>) {
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  } -> tensor<2xf32>
  %a2_none = tensor.empty() : tensor<2xf32>
  %a2_start = linalg.fill ins(%zero : f32) outs(%a2_none : tensor<2xf32>) -> tensor<2xf32>
  %da2 = linalg.generic {
      indexing_maps = [affine_map<(g, k, l) -> (k, g, l)>, affine_map<(g, k, l) -> (g)>],
      iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%blocks#3 : tensor<2x2x8xf32>) outs(%a2_start : tensor<2xf32>) {
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  } -> tensor<2xf32>
  %a3_none = tensor.empty() : tensor<2xf32>
  %a3_start = linalg.fill ins(%zero : f32) outs(%a3_none : tensor<2xf32>) -> tensor<2xf32>
  %da3 = linalg.generic {
      indexing_maps = [affine_map<(g, k, l) -> (k, g, l)>, affine_map<(g, k, l) -> (g)>],
      iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%blocks#4 : tensor<2x2x8xf32>) outs(%a3_start : tensor<2xf32>) {
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  } -> tensor<2xf32>
  %a4_none = tensor.empty() : tensor<2xf32>
  %a4_start = linalg.fill ins(%zero : f32) outs(%a4_none : tensor<2xf32>) -> tensor<2xf32>
  %da4 = linalg.generic {
      indexing_maps = [affine_map<(g, k, l) -> (k, g, l)>, affine_map<(g, k, l) -> (g)>],
      iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%blocks#5 : tensor<2x2x8xf32>) outs(%a4_start : tensor<2xf32>) {
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  } -> tensor<2xf32>
  %a5_none = tensor.empty() : tensor<2xf32>
  %a5_start = linalg.fill ins(%zero : f32) outs(%a5_none : tensor<2xf32>) -> tensor<2xf32>
  %da5 = linalg.generic {
      indexing_maps = [affine_map<(g, k, l) -> (k, g, l)>, affine_map<(g, k, l) -> (g)>],
      iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%blocks#6 : tensor<2x2x8xf32>) outs(%a5_start : tensor<2xf32>) {
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  } -> tensor<2xf32>
  %b1_none = tensor.empty() : tensor<2xf32>
  %b1_start = linalg.fill ins(%zero : f32) outs(%b1_none : tensor<2xf32>) -> tensor<2xf32>
  %db1 = linalg.generic {
      indexing_maps = [affine_map<(g, k, l) -> (k, g, l)>, affine_map<(g, k, l) -> (g)>],
      iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%blocks#7 : tensor<2x2x8xf32>) outs(%b1_start : tensor<2xf32>) {
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  } -> tensor<2xf32>
  %b2_none = tensor.empty() : tensor<2xf32>
  %b2_start = linalg.fill ins(%zero : f32) outs(%b2_none : tensor<2xf32>) -> tensor<2xf32>
  %db2 = linalg.generic {
      indexing_maps = [affine_map<(g, k, l) -> (k, g, l)>, affine_map<(g, k, l) -> (g)>],
      iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%blocks#8 : tensor<2x2x8xf32>) outs(%b2_start : tensor<2xf32>) {
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  } -> tensor<2xf32>
  %b3_none = tensor.empty() : tensor<2xf32>
  %b3_start = linalg.fill ins(%zero : f32) outs(%b3_none : tensor<2xf32>) -> tensor<2xf32>
  %db3 = linalg.generic {
      indexing_maps = [affine_map<(g, k, l) -> (k, g, l)>, affine_map<(g, k, l) -> (g)>],
      iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%blocks#9 : tensor<2x2x8xf32>) outs(%b3_start : tensor<2xf32>) {
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  } -> tensor<2xf32>
  %b4_none = tensor.empty() : tensor<2xf32>
  %b4_start = linalg.fill ins(%zero : f32) outs(%b4_none : tensor<2xf32>) -> tensor<2xf32>
  %db4 = linalg.generic {
      indexing_maps = [affine_map<(g, k, l) -> (k, g, l)>, affine_map<(g, k, l) -> (g)>],
      iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%blocks#10 : tensor<2x2x8xf32>) outs(%b4_start : tensor<2xf32>) {
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  } -> tensor<2xf32>
  %da_empty = tensor.empty() : tensor<6x2xf32>
  %da_0 = tensor.insert_slice %da0 into %da_empty[0, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<6x2xf32>
  %da_1 = tensor.insert_slice %da1 into %da_0[1, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<6x2xf32>
  %da_2 = tensor.insert_slice %da2 into %da_1[2, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<6x2xf32>
  %da_3 = tensor.insert_slice %da3 into %da_2[3, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<6x2xf32>
  %da_4 = tensor.insert_slice %da4 into %da_3[4, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<6x2xf32>
  %da_5 = tensor.insert_slice %da5 into %da_4[5, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<6x2xf32>
  %db_empty = tensor.empty() : tensor<4x2xf32>
  %db_0 = tensor.insert_slice %db1 into %db_empty[0, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<4x2xf32>
  %db_1 = tensor.insert_slice %db2 into %db_0[1, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<4x2xf32>
  %db_2 = tensor.insert_slice %db3 into %db_1[2, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<4x2xf32>
  %db_3 = tensor.insert_slice %db4 into %db_2[3, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<4x2xf32>
  return %blocks#0, %da_5, %db_3 : tensor<32x2x3x8xf32>, tensor<6x2xf32>, tensor<4x2xf32>
}
