// RUN: drawloom-opt %s --restrict-loops | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Nothing says that the start fits: terms at k = 7 are not there.

#rows = affine_map<(n, k) -> (n)>
#table = affine_map<(n, k) -> (k)>

// CHECK-LABEL: func.func @any
// CHECK-NOT: scf.for
// CHECK: linalg.generic
func.func @any(%s: tensor<4xi32>, %c: tensor<7xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %first = arith.constant 0 : i32
  %r = linalg.generic {indexing_maps = [#rows, #table, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%s, %c : tensor<4xi32>, tensor<7xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%start: i32, %row: f32, %sum: f32):
    %k = linalg.index 1 : index
    %number = arith.index_cast %k : index to i32
    %place = arith.subi %number, %start : i32
    %at = arith.cmpi eq, %place, %first : i32
    %term = arith.select %at, %row, %zero : f32
    %more = arith.addf %sum, %term : f32
    linalg.yield %more : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
