// RUN: not drawloom-opt %s --interpret-checks -o /dev/null 2>&1 | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK: error: 'slr.sparse_linear' op has other places by columns than by rows: column 0
func.func @test() {
  %v = arith.constant dense<1.0> : tensor<2x1x1xf64>
  %row_starts = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
  %columns = arith.constant dense<[1, 0]> : tensor<2xi32>
  %column_starts = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
  %rows = arith.constant dense<[0, 1]> : tensor<2xi32>
  %order = arith.constant dense<[0, 1]> : tensor<2xi32>
  %x = arith.constant dense<1.0> : tensor<1x2xf64>
  %y = slr.sparse_linear %x, %v at (%row_starts, %columns, %column_starts, %rows, %order)
      : tensor<1x2xf64>, tensor<2x1x1xf64>, (tensor<3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<1x2xf64>
  check.close %y, %y : tensor<1x2xf64>
  return
}
