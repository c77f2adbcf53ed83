// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written by generate.py: change it there.
//
// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s
// CHECK: scf.forall
//
// LoRA product y = x W + (x A)(2 B): 128 x 96 by 96 x 128, rank 16.
// A block computes its rows of x A once and adds the low-rank part into the same
// accumulators as the dense part.
#rc = affine_map<(r, c) -> (r, c)>

func.func @lora(%x: tensor<128x96xf32>, %w: tensor<96x128xf32>, %a: tensor<96x16xf32>, %b: tensor<16x128xf32>) -> tensor<128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 2.0 : f32
  %c0 = arith.constant 0 : index
  %tile_depth = arith.constant 32 : index
  %width_in = arith.constant 96 : index
  %tile_columns = arith.constant 64 : index
  %width_out = arith.constant 128 : index
  %empty = tensor.empty() : tensor<128x128xf32>
  %y = scf.forall (%block) in (2) shared_outs(%y_out = %empty) -> (tensor<128x128xf32>) {
    %row = affine.apply affine_map<(i) -> (i * 64)>(%block)
    %low_empty = tensor.empty() : tensor<64x16xf32>
    %low_zero = linalg.fill ins(%zero : f32) outs(%low_empty : tensor<64x16xf32>) -> tensor<64x16xf32>
    %low = scf.for %k = %c0 to %width_in step %tile_depth iter_args(%sum = %low_zero) -> (tensor<64x16xf32>) {
      %xt = tensor.extract_slice %x[%row, %k] [64, 32] [1, 1] : tensor<128x96xf32> to tensor<64x32xf32>
      %at = tensor.extract_slice %a[%k, 0] [32, 16] [1, 1] : tensor<96x16xf32> to tensor<32x16xf32>
      %next = linalg.matmul ins(%xt, %at : tensor<64x32xf32>, tensor<32x16xf32>) outs(%sum : tensor<64x16xf32>) -> tensor<64x16xf32>
      scf.yield %next : tensor<64x16xf32>
    }
    %scaled = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]}
        ins(%low : tensor<64x16xf32>) outs(%low_empty : tensor<64x16xf32>) {
    ^bb0(%e: f32, %old: f32):
      %s = arith.mulf %e, %scale : f32
      linalg.yield %s : f32
    } -> tensor<64x16xf32>
    %strip = tensor.extract_slice %y_out[%row, 0] [64, 128] [1, 1] : tensor<128x128xf32> to tensor<64x128xf32>
    %columns = scf.for %column = %c0 to %width_out step %tile_columns iter_args(%written = %strip) -> (tensor<64x128xf32>) {
      %slot = tensor.extract_slice %written[0, %column] [64, 64] [1, 1] : tensor<64x128xf32> to tensor<64x64xf32>
      %start = linalg.fill ins(%zero : f32) outs(%slot : tensor<64x64xf32>) -> tensor<64x64xf32>
      %bt = tensor.extract_slice %b[0, %column] [16, 64] [1, 1] : tensor<16x128xf32> to tensor<16x64xf32>
      %lowered = linalg.matmul ins(%scaled, %bt : tensor<64x16xf32>, tensor<16x64xf32>) outs(%start : tensor<64x64xf32>) -> tensor<64x64xf32>
      %dense = scf.for %k = %c0 to %width_in step %tile_depth iter_args(%sum = %lowered) -> (tensor<64x64xf32>) {
        %xt = tensor.extract_slice %x[%row, %k] [64, 32] [1, 1] : tensor<128x96xf32> to tensor<64x32xf32>
        %wt = tensor.extract_slice %w[%k, %column] [32, 64] [1, 1] : tensor<96x128xf32> to tensor<32x64xf32>
        %next = linalg.matmul ins(%xt, %wt : tensor<64x32xf32>, tensor<32x64xf32>) outs(%sum : tensor<64x64xf32>) -> tensor<64x64xf32>
        scf.yield %next : tensor<64x64xf32>
      }
      %filled = tensor.insert_slice %dense into %written[0, %column] [64, 64] [1, 1] : tensor<64x64xf32> into tensor<64x128xf32>
      scf.yield %filled : tensor<64x128xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %columns into %y_out[%row, 0] [64, 128] [1, 1] : tensor<64x128xf32> into tensor<128x128xf32>
    }
  }
  return %y : tensor<128x128xf32>
}
