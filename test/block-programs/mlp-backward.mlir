// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written by generate.py: change it there.
//
// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s
// CHECK: scf.forall
//
// Backward of the MLP 32 -> 64 -> 64 -> 64 -> 64 -> 16: 256 rows, 128 a block, 64 a tile.
// A tile computes its activations again instead of reading them; a block carries
// the weight gradients of its tiles and writes one partial; the second stage
// adds the partials in the order of the blocks.
#rc = affine_map<(r, c) -> (r, c)>
#c  = affine_map<(r, c) -> (c)>
#dw_in  = affine_map<(m, n, k) -> (k, m)>
#dw_dz  = affine_map<(m, n, k) -> (k, n)>
#dw_out = affine_map<(m, n, k) -> (m, n)>

func.func @mlp_backward(%x: tensor<256x32xf32>, %dy: tensor<256x16xf32>, %w0: tensor<32x64xf32>, %b0: tensor<64xf32>, %w1: tensor<64x64xf32>, %b1: tensor<64xf32>, %w2: tensor<64x64xf32>, %b2: tensor<64xf32>, %w3: tensor<64x64xf32>, %b3: tensor<64xf32>, %w4: tensor<64x16xf32>, %b4: tensor<16xf32>)
    -> (tensor<256x32xf32>, tensor<32x64xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %tile_rows = arith.constant 64 : index
  %block_rows = arith.constant 128 : index
  %t0_empty = tensor.empty() : tensor<64x32xf32>
  %t0 = linalg.transpose ins(%w0 : tensor<32x64xf32>) outs(%t0_empty : tensor<64x32xf32>) permutation = [1, 0]
  %t1_empty = tensor.empty() : tensor<64x64xf32>
  %t1 = linalg.transpose ins(%w1 : tensor<64x64xf32>) outs(%t1_empty : tensor<64x64xf32>) permutation = [1, 0]
  %t2_empty = tensor.empty() : tensor<64x64xf32>
  %t2 = linalg.transpose ins(%w2 : tensor<64x64xf32>) outs(%t2_empty : tensor<64x64xf32>) permutation = [1, 0]
  %t3_empty = tensor.empty() : tensor<64x64xf32>
  %t3 = linalg.transpose ins(%w3 : tensor<64x64xf32>) outs(%t3_empty : tensor<64x64xf32>) permutation = [1, 0]
  %t4_empty = tensor.empty() : tensor<16x64xf32>
  %t4 = linalg.transpose ins(%w4 : tensor<64x16xf32>) outs(%t4_empty : tensor<16x64xf32>) permutation = [1, 0]
  %dx_empty = tensor.empty() : tensor<256x32xf32>
  %pw0_empty = tensor.empty() : tensor<2x32x64xf32>
  %pb0_empty = tensor.empty() : tensor<2x64xf32>
  %pw1_empty = tensor.empty() : tensor<2x64x64xf32>
  %pb1_empty = tensor.empty() : tensor<2x64xf32>
  %pw2_empty = tensor.empty() : tensor<2x64x64xf32>
  %pb2_empty = tensor.empty() : tensor<2x64xf32>
  %pw3_empty = tensor.empty() : tensor<2x64x64xf32>
  %pb3_empty = tensor.empty() : tensor<2x64xf32>
  %pw4_empty = tensor.empty() : tensor<2x64x16xf32>
  %pb4_empty = tensor.empty() : tensor<2x16xf32>
  %parts:11 = scf.forall (%block) in (2) shared_outs(%dx_out = %dx_empty, %pw0_out = %pw0_empty, %pb0_out = %pb0_empty, %pw1_out = %pw1_empty, %pb1_out = %pb1_empty, %pw2_out = %pw2_empty, %pb2_out = %pb2_empty, %pw3_out = %pw3_empty, %pb3_out = %pb3_empty, %pw4_out = %pw4_empty, %pb4_out = %pb4_empty)
      -> (tensor<256x32xf32>, tensor<2x32x64xf32>, tensor<2x64xf32>, tensor<2x64x64xf32>, tensor<2x64xf32>, tensor<2x64x64xf32>, tensor<2x64xf32>, tensor<2x64x64xf32>, tensor<2x64xf32>, tensor<2x64x16xf32>, tensor<2x16xf32>) {
    %first = affine.apply affine_map<(i) -> (i * 128)>(%block)
    %dx_block = tensor.extract_slice %dx_out[%first, 0] [128, 32] [1, 1] : tensor<256x32xf32> to tensor<128x32xf32>
    %pw0_slot = tensor.extract_slice %pw0_out[%block, 0, 0] [1, 32, 64] [1, 1, 1] : tensor<2x32x64xf32> to tensor<32x64xf32>
    %pw0_zero = linalg.fill ins(%zero : f32) outs(%pw0_slot : tensor<32x64xf32>) -> tensor<32x64xf32>
    %pb0_slot = tensor.extract_slice %pb0_out[%block, 0] [1, 64] [1, 1] : tensor<2x64xf32> to tensor<64xf32>
    %pb0_zero = linalg.fill ins(%zero : f32) outs(%pb0_slot : tensor<64xf32>) -> tensor<64xf32>
    %pw1_slot = tensor.extract_slice %pw1_out[%block, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<2x64x64xf32> to tensor<64x64xf32>
    %pw1_zero = linalg.fill ins(%zero : f32) outs(%pw1_slot : tensor<64x64xf32>) -> tensor<64x64xf32>
    %pb1_slot = tensor.extract_slice %pb1_out[%block, 0] [1, 64] [1, 1] : tensor<2x64xf32> to tensor<64xf32>
    %pb1_zero = linalg.fill ins(%zero : f32) outs(%pb1_slot : tensor<64xf32>) -> tensor<64xf32>
    %pw2_slot = tensor.extract_slice %pw2_out[%block, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<2x64x64xf32> to tensor<64x64xf32>
    %pw2_zero = linalg.fill ins(%zero : f32) outs(%pw2_slot : tensor<64x64xf32>) -> tensor<64x64xf32>
    %pb2_slot = tensor.extract_slice %pb2_out[%block, 0] [1, 64] [1, 1] : tensor<2x64xf32> to tensor<64xf32>
    %pb2_zero = linalg.fill ins(%zero : f32) outs(%pb2_slot : tensor<64xf32>) -> tensor<64xf32>
    %pw3_slot = tensor.extract_slice %pw3_out[%block, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<2x64x64xf32> to tensor<64x64xf32>
    %pw3_zero = linalg.fill ins(%zero : f32) outs(%pw3_slot : tensor<64x64xf32>) -> tensor<64x64xf32>
    %pb3_slot = tensor.extract_slice %pb3_out[%block, 0] [1, 64] [1, 1] : tensor<2x64xf32> to tensor<64xf32>
    %pb3_zero = linalg.fill ins(%zero : f32) outs(%pb3_slot : tensor<64xf32>) -> tensor<64xf32>
    %pw4_slot = tensor.extract_slice %pw4_out[%block, 0, 0] [1, 64, 16] [1, 1, 1] : tensor<2x64x16xf32> to tensor<64x16xf32>
    %pw4_zero = linalg.fill ins(%zero : f32) outs(%pw4_slot : tensor<64x16xf32>) -> tensor<64x16xf32>
    %pb4_slot = tensor.extract_slice %pb4_out[%block, 0] [1, 16] [1, 1] : tensor<2x16xf32> to tensor<16xf32>
    %pb4_zero = linalg.fill ins(%zero : f32) outs(%pb4_slot : tensor<16xf32>) -> tensor<16xf32>
    %tiles:11 = scf.for %at = %c0 to %block_rows step %tile_rows
        iter_args(%dx = %dx_block, %pw0 = %pw0_zero, %pb0 = %pb0_zero, %pw1 = %pw1_zero, %pb1 = %pb1_zero, %pw2 = %pw2_zero, %pb2 = %pb2_zero, %pw3 = %pw3_zero, %pb3 = %pb3_zero, %pw4 = %pw4_zero, %pb4 = %pb4_zero)
        -> (tensor<128x32xf32>, tensor<32x64xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<16xf32>) {
      %row = arith.addi %first, %at : index
      %h0 = tensor.extract_slice %x[%row, 0] [64, 32] [1, 1] : tensor<256x32xf32> to tensor<64x32xf32>
      %dz4 = tensor.extract_slice %dy[%row, 0] [64, 16] [1, 1] : tensor<256x16xf32> to tensor<64x16xf32>
      %e0 = tensor.empty() : tensor<64x64xf32>
      %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %m0 = linalg.matmul ins(%h0, %w0 : tensor<64x32xf32>, tensor<32x64xf32>) outs(%z0 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %h1 = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]}
          ins(%m0, %b0 : tensor<64x64xf32>, tensor<64xf32>) outs(%e0 : tensor<64x64xf32>) {
      ^bb0(%dot: f32, %bias: f32, %old: f32):
        %sum = arith.addf %dot, %bias : f32
        %positive = arith.cmpf ugt, %sum, %zero : f32
        %relu = arith.select %positive, %sum, %zero : f32
        linalg.yield %relu : f32
      } -> tensor<64x64xf32>
      %e1 = tensor.empty() : tensor<64x64xf32>
      %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %m1 = linalg.matmul ins(%h1, %w1 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z1 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %h2 = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]}
          ins(%m1, %b1 : tensor<64x64xf32>, tensor<64xf32>) outs(%e1 : tensor<64x64xf32>) {
      ^bb0(%dot: f32, %bias: f32, %old: f32):
        %sum = arith.addf %dot, %bias : f32
        %positive = arith.cmpf ugt, %sum, %zero : f32
        %relu = arith.select %positive, %sum, %zero : f32
        linalg.yield %relu : f32
      } -> tensor<64x64xf32>
      %e2 = tensor.empty() : tensor<64x64xf32>
      %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %m2 = linalg.matmul ins(%h2, %w2 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z2 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %h3 = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]}
          ins(%m2, %b2 : tensor<64x64xf32>, tensor<64xf32>) outs(%e2 : tensor<64x64xf32>) {
      ^bb0(%dot: f32, %bias: f32, %old: f32):
        %sum = arith.addf %dot, %bias : f32
        %positive = arith.cmpf ugt, %sum, %zero : f32
        %relu = arith.select %positive, %sum, %zero : f32
        linalg.yield %relu : f32
      } -> tensor<64x64xf32>
      %e3 = tensor.empty() : tensor<64x64xf32>
      %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %m3 = linalg.matmul ins(%h3, %w3 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z3 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %h4 = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]}
          ins(%m3, %b3 : tensor<64x64xf32>, tensor<64xf32>) outs(%e3 : tensor<64x64xf32>) {
      ^bb0(%dot: f32, %bias: f32, %old: f32):
        %sum = arith.addf %dot, %bias : f32
        %positive = arith.cmpf ugt, %sum, %zero : f32
        %relu = arith.select %positive, %sum, %zero : f32
        linalg.yield %relu : f32
      } -> tensor<64x64xf32>
      %nw4 = linalg.matmul indexing_maps = [#dw_in, #dw_dz, #dw_out]
          ins(%h4, %dz4 : tensor<64x64xf32>, tensor<64x16xf32>) outs(%pw4 : tensor<64x16xf32>) -> tensor<64x16xf32>
      %nb4 = linalg.generic {indexing_maps = [#rc, #c], iterator_types = ["reduction", "parallel"]}
          ins(%dz4 : tensor<64x16xf32>) outs(%pb4 : tensor<16xf32>) {
      ^bb0(%part: f32, %sum: f32):
        %next = arith.addf %sum, %part : f32
        linalg.yield %next : f32
      } -> tensor<16xf32>
      %de4 = tensor.empty() : tensor<64x64xf32>
      %dq4 = linalg.fill ins(%zero : f32) outs(%de4 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %dh4 = linalg.matmul ins(%dz4, %t4 : tensor<64x16xf32>, tensor<16x64xf32>) outs(%dq4 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %dz3 = linalg.generic {indexing_maps = [#rc, #rc, #rc], iterator_types = ["parallel", "parallel"]}
          ins(%dh4, %h4 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%de4 : tensor<64x64xf32>) {
      ^bb0(%gradient: f32, %activation: f32, %old: f32):
        %positive = arith.cmpf ugt, %activation, %zero : f32
        %passed = arith.select %positive, %gradient, %zero : f32
        linalg.yield %passed : f32
      } -> tensor<64x64xf32>
      %nw3 = linalg.matmul indexing_maps = [#dw_in, #dw_dz, #dw_out]
          ins(%h3, %dz3 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%pw3 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %nb3 = linalg.generic {indexing_maps = [#rc, #c], iterator_types = ["reduction", "parallel"]}
          ins(%dz3 : tensor<64x64xf32>) outs(%pb3 : tensor<64xf32>) {
      ^bb0(%part: f32, %sum: f32):
        %next = arith.addf %sum, %part : f32
        linalg.yield %next : f32
      } -> tensor<64xf32>
      %de3 = tensor.empty() : tensor<64x64xf32>
      %dq3 = linalg.fill ins(%zero : f32) outs(%de3 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %dh3 = linalg.matmul ins(%dz3, %t3 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%dq3 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %dz2 = linalg.generic {indexing_maps = [#rc, #rc, #rc], iterator_types = ["parallel", "parallel"]}
          ins(%dh3, %h3 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%de3 : tensor<64x64xf32>) {
      ^bb0(%gradient: f32, %activation: f32, %old: f32):
        %positive = arith.cmpf ugt, %activation, %zero : f32
        %passed = arith.select %positive, %gradient, %zero : f32
        linalg.yield %passed : f32
      } -> tensor<64x64xf32>
      %nw2 = linalg.matmul indexing_maps = [#dw_in, #dw_dz, #dw_out]
          ins(%h2, %dz2 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%pw2 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %nb2 = linalg.generic {indexing_maps = [#rc, #c], iterator_types = ["reduction", "parallel"]}
          ins(%dz2 : tensor<64x64xf32>) outs(%pb2 : tensor<64xf32>) {
      ^bb0(%part: f32, %sum: f32):
        %next = arith.addf %sum, %part : f32
        linalg.yield %next : f32
      } -> tensor<64xf32>
      %de2 = tensor.empty() : tensor<64x64xf32>
      %dq2 = linalg.fill ins(%zero : f32) outs(%de2 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %dh2 = linalg.matmul ins(%dz2, %t2 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%dq2 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %dz1 = linalg.generic {indexing_maps = [#rc, #rc, #rc], iterator_types = ["parallel", "parallel"]}
          ins(%dh2, %h2 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%de2 : tensor<64x64xf32>) {
      ^bb0(%gradient: f32, %activation: f32, %old: f32):
        %positive = arith.cmpf ugt, %activation, %zero : f32
        %passed = arith.select %positive, %gradient, %zero : f32
        linalg.yield %passed : f32
      } -> tensor<64x64xf32>
      %nw1 = linalg.matmul indexing_maps = [#dw_in, #dw_dz, #dw_out]
          ins(%h1, %dz1 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%pw1 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %nb1 = linalg.generic {indexing_maps = [#rc, #c], iterator_types = ["reduction", "parallel"]}
          ins(%dz1 : tensor<64x64xf32>) outs(%pb1 : tensor<64xf32>) {
      ^bb0(%part: f32, %sum: f32):
        %next = arith.addf %sum, %part : f32
        linalg.yield %next : f32
      } -> tensor<64xf32>
      %de1 = tensor.empty() : tensor<64x64xf32>
      %dq1 = linalg.fill ins(%zero : f32) outs(%de1 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %dh1 = linalg.matmul ins(%dz1, %t1 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%dq1 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %dz0 = linalg.generic {indexing_maps = [#rc, #rc, #rc], iterator_types = ["parallel", "parallel"]}
          ins(%dh1, %h1 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%de1 : tensor<64x64xf32>) {
      ^bb0(%gradient: f32, %activation: f32, %old: f32):
        %positive = arith.cmpf ugt, %activation, %zero : f32
        %passed = arith.select %positive, %gradient, %zero : f32
        linalg.yield %passed : f32
      } -> tensor<64x64xf32>
      %nw0 = linalg.matmul indexing_maps = [#dw_in, #dw_dz, #dw_out]
          ins(%h0, %dz0 : tensor<64x32xf32>, tensor<64x64xf32>) outs(%pw0 : tensor<32x64xf32>) -> tensor<32x64xf32>
      %nb0 = linalg.generic {indexing_maps = [#rc, #c], iterator_types = ["reduction", "parallel"]}
          ins(%dz0 : tensor<64x64xf32>) outs(%pb0 : tensor<64xf32>) {
      ^bb0(%part: f32, %sum: f32):
        %next = arith.addf %sum, %part : f32
        linalg.yield %next : f32
      } -> tensor<64xf32>
      %dx_slot = tensor.extract_slice %dx[%at, 0] [64, 32] [1, 1] : tensor<128x32xf32> to tensor<64x32xf32>
      %dx_zero = linalg.fill ins(%zero : f32) outs(%dx_slot : tensor<64x32xf32>) -> tensor<64x32xf32>
      %dx_tile = linalg.matmul ins(%dz0, %t0 : tensor<64x64xf32>, tensor<64x32xf32>) outs(%dx_zero : tensor<64x32xf32>) -> tensor<64x32xf32>
      %dx_next = tensor.insert_slice %dx_tile into %dx[%at, 0] [64, 32] [1, 1] : tensor<64x32xf32> into tensor<128x32xf32>
      scf.yield %dx_next, %nw0, %nb0, %nw1, %nb1, %nw2, %nb2, %nw3, %nb3, %nw4, %nb4 : tensor<128x32xf32>, tensor<32x64xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<16xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %tiles#0 into %dx_out[%first, 0] [128, 32] [1, 1] : tensor<128x32xf32> into tensor<256x32xf32>
      tensor.parallel_insert_slice %tiles#1 into %pw0_out[%block, 0, 0] [1, 32, 64] [1, 1, 1] : tensor<32x64xf32> into tensor<2x32x64xf32>
      tensor.parallel_insert_slice %tiles#2 into %pb0_out[%block, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<2x64xf32>
      tensor.parallel_insert_slice %tiles#3 into %pw1_out[%block, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<64x64xf32> into tensor<2x64x64xf32>
      tensor.parallel_insert_slice %tiles#4 into %pb1_out[%block, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<2x64xf32>
      tensor.parallel_insert_slice %tiles#5 into %pw2_out[%block, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<64x64xf32> into tensor<2x64x64xf32>
      tensor.parallel_insert_slice %tiles#6 into %pb2_out[%block, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<2x64xf32>
      tensor.parallel_insert_slice %tiles#7 into %pw3_out[%block, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<64x64xf32> into tensor<2x64x64xf32>
      tensor.parallel_insert_slice %tiles#8 into %pb3_out[%block, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<2x64xf32>
      tensor.parallel_insert_slice %tiles#9 into %pw4_out[%block, 0, 0] [1, 64, 16] [1, 1, 1] : tensor<64x16xf32> into tensor<2x64x16xf32>
      tensor.parallel_insert_slice %tiles#10 into %pb4_out[%block, 0] [1, 16] [1, 1] : tensor<16xf32> into tensor<2x16xf32>
    }
  }

  %dw0_empty = tensor.empty() : tensor<32x64xf32>
  %dw0_zero = linalg.fill ins(%zero : f32) outs(%dw0_empty : tensor<32x64xf32>) -> tensor<32x64xf32>
  %dw0 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>],
      iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%parts#1 : tensor<2x32x64xf32>) outs(%dw0_zero : tensor<32x64xf32>) {
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  } -> tensor<32x64xf32>
  %db0_empty = tensor.empty() : tensor<64xf32>
  %db0_zero = linalg.fill ins(%zero : f32) outs(%db0_empty : tensor<64xf32>) -> tensor<64xf32>
  %db0 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>],
      iterator_types = ["reduction", "parallel"]}
      ins(%parts#2 : tensor<2x64xf32>) outs(%db0_zero : tensor<64xf32>) {
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  } -> tensor<64xf32>
  %dw1_empty = tensor.empty() : tensor<64x64xf32>
  %dw1_zero = linalg.fill ins(%zero : f32) outs(%dw1_empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %dw1 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>],
      iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%parts#3 : tensor<2x64x64xf32>) outs(%dw1_zero : tensor<64x64xf32>) {
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  } -> tensor<64x64xf32>
  %db1_empty = tensor.empty() : tensor<64xf32>
  %db1_zero = linalg.fill ins(%zero : f32) outs(%db1_empty : tensor<64xf32>) -> tensor<64xf32>
  %db1 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>],
      iterator_types = ["reduction", "parallel"]}
      ins(%parts#4 : tensor<2x64xf32>) outs(%db1_zero : tensor<64xf32>) {
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  } -> tensor<64xf32>
  %dw2_empty = tensor.empty() : tensor<64x64xf32>
  %dw2_zero = linalg.fill ins(%zero : f32) outs(%dw2_empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %dw2 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>],
      iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%parts#5 : tensor<2x64x64xf32>) outs(%dw2_zero : tensor<64x64xf32>) {
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  } -> tensor<64x64xf32>
  %db2_empty = tensor.empty() : tensor<64xf32>
  %db2_zero = linalg.fill ins(%zero : f32) outs(%db2_empty : tensor<64xf32>) -> tensor<64xf32>
  %db2 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>],
      iterator_types = ["reduction", "parallel"]}
      ins(%parts#6 : tensor<2x64xf32>) outs(%db2_zero : tensor<64xf32>) {
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  } -> tensor<64xf32>
  %dw3_empty = tensor.empty() : tensor<64x64xf32>
  %dw3_zero = linalg.fill ins(%zero : f32) outs(%dw3_empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %dw3 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>],
      iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%parts#7 : tensor<2x64x64xf32>) outs(%dw3_zero : tensor<64x64xf32>) {
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  } -> tensor<64x64xf32>
  %db3_empty = tensor.empty() : tensor<64xf32>
  %db3_zero = linalg.fill ins(%zero : f32) outs(%db3_empty : tensor<64xf32>) -> tensor<64xf32>
  %db3 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>],
      iterator_types = ["reduction", "parallel"]}
      ins(%parts#8 : tensor<2x64xf32>) outs(%db3_zero : tensor<64xf32>) {
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  } -> tensor<64xf32>
  %dw4_empty = tensor.empty() : tensor<64x16xf32>
  %dw4_zero = linalg.fill ins(%zero : f32) outs(%dw4_empty : tensor<64x16xf32>) -> tensor<64x16xf32>
  %dw4 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>],
      iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%parts#9 : tensor<2x64x16xf32>) outs(%dw4_zero : tensor<64x16xf32>) {
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  } -> tensor<64x16xf32>
  %db4_empty = tensor.empty() : tensor<16xf32>
  %db4_zero = linalg.fill ins(%zero : f32) outs(%db4_empty : tensor<16xf32>) -> tensor<16xf32>
  %db4 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>],
      iterator_types = ["reduction", "parallel"]}
      ins(%parts#10 : tensor<2x16xf32>) outs(%db4_zero : tensor<16xf32>) {
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  } -> tensor<16xf32>
  return %parts#0, %dw0, %db0, %dw1, %db1, %dw2, %db2, %dw3, %db3, %dw4, %db4 : tensor<256x32xf32>, tensor<32x64xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<16xf32>
}
