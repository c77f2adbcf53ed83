// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written by generate.py: change it there.
//
// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s
// CHECK: scf.forall
//
// Block-sparse product Y = A X: A has 4 x 5 blocks of 32 x 32, 9 of them stored (BSR).
// Row i of blocks has the blocks starts[i] .. starts[i + 1] - 1, possibly none.

func.func @block_sparse(%values: tensor<9x32x32xf32>, %starts: tensor<5xi32>, %columns: tensor<9xi32>,
                        %x: tensor<160x64xf32>) -> tensor<128x64xf32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %empty = tensor.empty() : tensor<128x64xf32>
  %y = scf.forall (%i) in (4) shared_outs(%y_out = %empty) -> (tensor<128x64xf32>) {
    %row = affine.apply affine_map<(i) -> (i * 32)>(%i)
    %i_next = arith.addi %i, %c1 : index
    %begin32 = tensor.extract %starts[%i] : tensor<5xi32>
    %end32 = tensor.extract %starts[%i_next] : tensor<5xi32>
    %begin = arith.index_cast %begin32 : i32 to index
    %end = arith.index_cast %end32 : i32 to index
    %slot = tensor.extract_slice %y_out[%row, 0] [32, 64] [1, 1] : tensor<128x64xf32> to tensor<32x64xf32>
    %none = linalg.fill ins(%zero : f32) outs(%slot : tensor<32x64xf32>) -> tensor<32x64xf32>
    %sum = scf.for %p = %begin to %end step %c1 iter_args(%part = %none) -> (tensor<32x64xf32>) {
      %column32 = tensor.extract %columns[%p] : tensor<9xi32>
      %column = arith.index_cast %column32 : i32 to index
      %x_row = affine.apply affine_map<(i) -> (i * 32)>(%column)
      %a = tensor.extract_slice %values[%p, 0, 0] [1, 32, 32] [1, 1, 1] : tensor<9x32x32xf32> to tensor<32x32xf32>
      %xt = tensor.extract_slice %x[%x_row, 0] [32, 64] [1, 1] : tensor<160x64xf32> to tensor<32x64xf32>
      %more = linalg.matmul ins(%a, %xt : tensor<32x32xf32>, tensor<32x64xf32>) outs(%part : tensor<32x64xf32>) -> tensor<32x64xf32>
      scf.yield %more : tensor<32x64xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %y_out[%row, 0] [32, 64] [1, 1] : tensor<32x64xf32> into tensor<128x64xf32>
    }
  }
  return %y : tensor<128x64xf32>
}
