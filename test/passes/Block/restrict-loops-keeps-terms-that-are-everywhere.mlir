// RUN: drawloom-opt %s --restrict-loops | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Where k is not at the start, 1 is added.

#id = affine_map<(n) -> (n)>
#rows = affine_map<(n, k) -> (n)>
#table = affine_map<(n, k) -> (k)>

// CHECK-LABEL: func.func @everywhere
// CHECK-NOT: scf.for
func.func @everywhere(%given: tensor<4xi32>, %c: tensor<7xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %one = arith.constant 1.0 : f32
  %first = arith.constant 0 : i32
  %last = arith.constant 6 : i32
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%given : tensor<4xi32>) outs(%given : tensor<4xi32>) {
  ^bb0(%in: i32, %out: i32):
    %low = arith.maxsi %in, %first : i32
    %start = arith.minsi %low, %last : i32
    linalg.yield %start : i32
  } -> tensor<4xi32>
  %r = linalg.generic {indexing_maps = [#rows, #table, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%s, %c : tensor<4xi32>, tensor<7xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%start: i32, %row: f32, %sum: f32):
    %k = linalg.index 1 : index
    %number = arith.index_cast %k : index to i32
    %place = arith.subi %number, %start : i32
    %at = arith.cmpi eq, %place, %first : i32
    %term = arith.select %at, %row, %one : f32
    %more = arith.addf %sum, %term : f32
    linalg.yield %more : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
