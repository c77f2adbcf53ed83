// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The matrix of each term, written out.
func.func @test() {
  %d = arith.constant dense<[2.0, 3.0]> : tensor<2xf64>
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64>
  %g = arith.constant dense<[[[1.0, 2.0]], [[3.0, 4.0]]]> : tensor<2x1x2xf64>
  %diagonal, %blocks, %fold, %select, %permute, %concat, %kronecker, %hadamard, %normalized = slr.materialize(%d, %w, %g) {
  ^bb0(%d0: tensor<2xf64>, %w0: tensor<2x2xf64>, %g0: tensor<2x1x2xf64>):
    %0 = slr.diagonal %d0 : tensor<2xf64>
    %1 = slr.block_diagonal %g0 : tensor<2x1x2xf64>
    %2 = slr.fold 4 into 2 parts
    %3 = slr.select 1 from 1 of 3
    %4 = slr.permute [2, 3] by [1, 0]
    %5 = slr.dense %w0 : tensor<2x2xf64>
    %6 = slr.concat %5, %0 : !slr.term<2x2>, !slr.term<2x2>
    %7 = slr.kronecker %0, %5 : !slr.term<2x2>, !slr.term<2x2>
    %8 = slr.transpose %5 : !slr.term<2x2>
    %9 = slr.hadamard %5, %8 : !slr.term<2x2>, !slr.term<2x2>
    %10 = slr.product %0, %0 : !slr.term<2x2>, !slr.term<2x2>
    %11 = slr.normalize_columns %10 to %d0 : !slr.term<2x2>, tensor<2xf64>
    slr.yield %0, %1, %2, %3, %4, %6, %7, %9, %11 : !slr.term<2x2>, !slr.term<2x4>, !slr.term<4x2>, !slr.term<3x1>, !slr.term<6x6>, !slr.term<2x4>, !slr.term<4x4>, !slr.term<2x2>, !slr.term<2x2>
  } : (tensor<2xf64>, tensor<2x2xf64>, tensor<2x1x2xf64>) -> (tensor<2x2xf64>, tensor<2x4xf64>, tensor<4x2xf64>, tensor<3x1xf64>, tensor<6x6xf64>, tensor<2x4xf64>, tensor<4x4xf64>, tensor<2x2xf64>, tensor<2x2xf64>)
  %diagonal_wanted = arith.constant dense<[[2.0, 0.0], [0.0, 3.0]]> : tensor<2x2xf64>
  check.close %diagonal, %diagonal_wanted : tensor<2x2xf64>
  %blocks_wanted = arith.constant dense<[[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 3.0, 4.0]]> : tensor<2x4xf64>
  check.close %blocks, %blocks_wanted : tensor<2x4xf64>
  %fold_wanted = arith.constant dense<[[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]> : tensor<4x2xf64>
  check.close %fold, %fold_wanted : tensor<4x2xf64>
  %select_wanted = arith.constant dense<[[0.0], [1.0], [0.0]]> : tensor<3x1xf64>
  check.close %select, %select_wanted : tensor<3x1xf64>
  %permute_wanted = arith.constant dense<[[1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]> : tensor<6x6xf64>
  check.close %permute, %permute_wanted : tensor<6x6xf64>
  %concat_wanted = arith.constant dense<[[1.0, 2.0, 2.0, 0.0], [3.0, 4.0, 0.0, 3.0]]> : tensor<2x4xf64>
  check.close %concat, %concat_wanted : tensor<2x4xf64>
  %kronecker_wanted = arith.constant dense<[[2.0, 4.0, 0.0, 0.0], [6.0, 8.0, 0.0, 0.0], [0.0, 0.0, 3.0, 6.0], [0.0, 0.0, 9.0, 12.0]]> : tensor<4x4xf64>
  check.close %kronecker, %kronecker_wanted : tensor<4x4xf64>
  %hadamard_wanted = arith.constant dense<[[1.0, 6.0], [6.0, 16.0]]> : tensor<2x2xf64>
  check.close %hadamard, %hadamard_wanted : tensor<2x2xf64>
  %normalized_wanted = arith.constant dense<[[2.0, 0.0], [0.0, 3.0]]> : tensor<2x2xf64>
  check.close %normalized, %normalized_wanted : tensor<2x2xf64>
  return
}
