// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written by generate.py: change it there.
//
// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s
// CHECK: scf.forall
//
// Sparse product Y = A X: A is 64 x 48 with 200 stored elements (CSR), X has 64 columns.
// A row's sum is a tile of 64 that stays in registers while its elements go by.

func.func @csr(%values: tensor<200xf32>, %starts: tensor<65xi32>, %columns: tensor<200xi32>,
               %x: tensor<48x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_rows = arith.constant 16 : index
  %empty = tensor.empty() : tensor<64x64xf32>
  %y = scf.forall (%block) in (4) shared_outs(%y_out = %empty) -> (tensor<64x64xf32>) {
    %first = affine.apply affine_map<(i) -> (i * 16)>(%block)
    %slot = tensor.extract_slice %y_out[%first, 0] [16, 64] [1, 1] : tensor<64x64xf32> to tensor<16x64xf32>
    %tile = scf.for %i = %c0 to %tile_rows step %c1 iter_args(%done = %slot) -> (tensor<16x64xf32>) {
      %r = arith.addi %first, %i : index
      %r_next = arith.addi %r, %c1 : index
      %begin32 = tensor.extract %starts[%r] : tensor<65xi32>
      %end32 = tensor.extract %starts[%r_next] : tensor<65xi32>
      %begin = arith.index_cast %begin32 : i32 to index
      %end = arith.index_cast %end32 : i32 to index
      %row = tensor.extract_slice %done[%i, 0] [1, 64] [1, 1] : tensor<16x64xf32> to tensor<64xf32>
      %none = linalg.fill ins(%zero : f32) outs(%row : tensor<64xf32>) -> tensor<64xf32>
      %sum = scf.for %p = %begin to %end step %c1 iter_args(%part = %none) -> (tensor<64xf32>) {
        %column32 = tensor.extract %columns[%p] : tensor<200xi32>
        %column = arith.index_cast %column32 : i32 to index
        %value = tensor.extract %values[%p] : tensor<200xf32>
        %xr = tensor.extract_slice %x[%column, 0] [1, 64] [1, 1] : tensor<48x64xf32> to tensor<64xf32>
        %more = linalg.generic {indexing_maps = [affine_map<(f) -> ()>, affine_map<(f) -> (f)>, affine_map<(f) -> (f)>],
                                 iterator_types = ["parallel"]}
            ins(%value, %xr : f32, tensor<64xf32>) outs(%part : tensor<64xf32>) {
        ^bb0(%a: f32, %b: f32, %s: f32):
          %m = arith.mulf %a, %b fastmath<contract> : f32
          %n = arith.addf %s, %m fastmath<contract> : f32
          linalg.yield %n : f32
        } -> tensor<64xf32>
        scf.yield %more : tensor<64xf32>
      }
      %stored = tensor.insert_slice %sum into %done[%i, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<16x64xf32>
      scf.yield %stored : tensor<16x64xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %tile into %y_out[%first, 0] [16, 64] [1, 1] : tensor<16x64xf32> into tensor<64x64xf32>
    }
  }
  return %y : tensor<64x64xf32>
}
