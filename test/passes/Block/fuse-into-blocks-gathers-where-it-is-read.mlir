// RUN: drawloom-opt %s --fuse-into-blocks --canonicalize --verify-semantics | FileCheck %s
// RUN: drawloom-opt %s --fuse-into-blocks --verify-semantics -o /dev/null
// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --fuse-into-blocks --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#t = affine_map<(t) -> (t)>
#td = affine_map<(t, d) -> (t, d)>

// The token in front of each of two sequences of four, times two: rows are numbered from all tokens' beginning in each block.
// CHECK-LABEL: func.func @test_before
// CHECK-NOT: linalg.generic
// CHECK: scf.forall
// CHECK: %[[ROWS:.*]] = linalg.generic
// CHECK: linalg.index 0
// CHECK: arith.addi
// CHECK: block.gather %{{.*}}[%[[ROWS]]]
// CHECK: linalg.generic
// CHECK: arith.mulf
func.func @test_before() {
  %x = arith.constant dense<[[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0]]> : tensor<8x1xf64>
  %numbers = tensor.empty() : tensor<8xindex>
  %rows = linalg.generic {indexing_maps = [#t], iterator_types = ["parallel"]} outs(%numbers : tensor<8xindex>) {
  ^bb0(%out: index):
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %none = arith.constant -1 : index
    %t = linalg.index 0 : index
    %at = arith.remsi %t, %c4 : index
    %inside = arith.cmpi sge, %at, %c1 : index
    %row = arith.subi %t, %c1 : index
    %r = arith.select %inside, %row, %none : index
    linalg.yield %r : index
  } -> tensor<8xindex>
  %empty = tensor.empty() : tensor<8x1xf64>
  %before = block.gather %x[%rows] outs(%empty) : tensor<8x1xf64>[tensor<8xindex>] -> tensor<8x1xf64>
  %twice = linalg.generic {indexing_maps = [#td, #td], iterator_types = ["parallel", "parallel"]}
      ins(%before : tensor<8x1xf64>) outs(%empty : tensor<8x1xf64>) {
  ^bb0(%in: f64, %out: f64):
    %two = arith.constant 2.0 : f64
    %r = arith.mulf %in, %two : f64
    linalg.yield %r : f64
  } -> tensor<8x1xf64>
  %y = tensor.expand_shape %twice [[0, 1], [2]] output_shape [2, 4, 1] : tensor<8x1xf64> into tensor<2x4x1xf64>
  %results = tensor.empty() : tensor<2x2x2x1xf64>
  %z = scf.forall (%b, %half) in (2, 2) shared_outs(%all = %results) -> tensor<2x2x2x1xf64> {
    %c2 = arith.constant 2 : index
    %own = tensor.extract_slice %y[%b, 0, 0] [1, 4, 1] [1, 1, 1] : tensor<2x4x1xf64> to tensor<4x1xf64>
    %at = arith.muli %half, %c2 : index
    %tile = tensor.extract_slice %own[%at, 0] [2, 1] [1, 1] : tensor<4x1xf64> to tensor<2x1xf64>
    %sum = arith.addf %tile, %tile : tensor<2x1xf64>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %all[%b, %half, 0, 0] [1, 1, 2, 1] [1, 1, 1, 1] : tensor<2x1xf64> into tensor<2x2x2x1xf64>
    }
  }
  %expected = arith.constant dense<[[[[0.0], [4.0]], [[8.0], [12.0]]], [[[0.0], [20.0]], [[24.0], [28.0]]]]> : tensor<2x2x2x1xf64>
  check.close %z, %expected {atol = 0.0} : tensor<2x2x2x1xf64>
  return
}
