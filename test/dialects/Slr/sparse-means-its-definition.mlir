// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null
// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Blocks of 1 x 2: W = [[0, 0, 1, 2], [3, 4, 0, 0], [5, 6, 7, 8]].
// CHECK-LABEL: func.func @test
// CHECK: slr.sparse_linear {{.*}} at({{.*}}) :
// CHECK: slr.sparse_linear {{.*}} at({{.*}}) transpose :
// CHECK: slr.sampled_product
// CHECK: slr.sparse %
func.func @test() {
  %v = arith.constant dense<[[[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]], [[7.0, 8.0]]]> : tensor<4x1x2xf64>
  %row_starts = arith.constant dense<[0, 1, 2, 4]> : tensor<4xi32>
  %columns = arith.constant dense<[1, 0, 0, 1]> : tensor<4xi32>
  %column_starts = arith.constant dense<[0, 2, 4]> : tensor<3xi32>
  %rows = arith.constant dense<[1, 2, 0, 2]> : tensor<4xi32>
  %order = arith.constant dense<[1, 2, 0, 3]> : tensor<4xi32>
  %x = arith.constant dense<[[1.0, 10.0, 100.0], [0.0, 1.0, 0.0]]> : tensor<2x3xf64>
  %y = slr.sparse_linear %x, %v at (%row_starts, %columns, %column_starts, %rows, %order)
      : tensor<2x3xf64>, tensor<4x1x2xf64>, (tensor<4xi32>, tensor<4xi32>, tensor<3xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<2x4xf64>
  %y_wanted = arith.constant dense<[[530.0, 640.0, 701.0, 802.0], [3.0, 4.0, 0.0, 0.0]]> : tensor<2x4xf64>
  check.close %y, %y_wanted : tensor<2x4xf64>
  %g = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [10.0, 0.0, 0.0, 0.0]]> : tensor<2x4xf64>
  %dx = slr.sparse_linear %g, %v at (%row_starts, %columns, %column_starts, %rows, %order) transpose
      : tensor<2x4xf64>, tensor<4x1x2xf64>, (tensor<4xi32>, tensor<4xi32>, tensor<3xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<2x3xf64>
  %dx_wanted = arith.constant dense<[[11.0, 11.0, 70.0], [0.0, 30.0, 50.0]]> : tensor<2x3xf64>
  check.close %dx, %dx_wanted : tensor<2x3xf64>
  %dv = slr.sampled_product %x, %g at (%row_starts, %columns, %column_starts, %rows, %order)
      : tensor<2x3xf64>, tensor<2x4xf64>, (tensor<4xi32>, tensor<4xi32>, tensor<3xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<4x1x2xf64>
  %dv_wanted = arith.constant dense<[[[3.0, 4.0]], [[20.0, 20.0]], [[100.0, 200.0]], [[300.0, 400.0]]]> : tensor<4x1x2xf64>
  check.close %dv, %dv_wanted : tensor<4x1x2xf64>
  %w = slr.materialize(%v, %row_starts, %columns, %column_starts, %rows, %order) {
  ^bb0(%v0: tensor<4x1x2xf64>, %a: tensor<4xi32>, %b: tensor<4xi32>, %c: tensor<3xi32>, %d: tensor<4xi32>, %e: tensor<4xi32>):
    %0 = slr.sparse %v0 at (%a, %b, %c, %d, %e) : tensor<4x1x2xf64>, (tensor<4xi32>, tensor<4xi32>, tensor<3xi32>, tensor<4xi32>, tensor<4xi32>)
    slr.yield %0 : !slr.term<3x4>
  } : (tensor<4x1x2xf64>, tensor<4xi32>, tensor<4xi32>, tensor<3xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<3x4xf64>
  %w_wanted = arith.constant dense<[[0.0, 0.0, 1.0, 2.0], [3.0, 4.0, 0.0, 0.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<3x4xf64>
  check.close %w, %w_wanted : tensor<3x4xf64>
  return
}
