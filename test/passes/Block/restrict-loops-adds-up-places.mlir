// RUN: drawloom-opt %s --restrict-loops --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#id = affine_map<(n) -> (n)>
#rows = affine_map<(n, k) -> (n)>
#table = affine_map<(n, k) -> (k)>

// A derivative chooses by sums of terms, each of which is 0 but at one place:
// what is chosen between is added by no op.
// CHECK-LABEL: func.func @sums
// CHECK: scf.for
// CHECK: linalg.generic
// CHECK-NOT: arith.select
// CHECK: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: linalg.yield
func.func @sums(%given: tensor<4xi32>, %c: tensor<7xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %first = arith.constant 0 : i32
  %second = arith.constant 1 : i32
  %last = arith.constant 5 : i32
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%given : tensor<4xi32>) outs(%given : tensor<4xi32>) {
  ^bb0(%in: i32, %out: i32):
    %low = arith.maxsi %in, %first : i32
    %start = arith.minsi %low, %last : i32
    linalg.yield %start : i32
  } -> tensor<4xi32>
  %r = linalg.generic {indexing_maps = [#rows, #rows, #rows, #table, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%s, %a, %b, %c : tensor<4xi32>, tensor<4xf32>, tensor<4xf32>, tensor<7xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%start: i32, %u: f32, %v: f32, %row: f32, %sum: f32):
    %k = linalg.index 1 : index
    %number = arith.index_cast %k : index to i32
    %place = arith.subi %number, %start : i32
    %at0 = arith.cmpi eq, %place, %first : i32
    %at1 = arith.cmpi eq, %place, %second : i32
    %term0 = arith.select %at0, %u, %zero : f32
    %kept = arith.select %at1, %zero, %term0 : f32
    %term1 = arith.select %at1, %v, %zero : f32
    %both = arith.addf %kept, %term1 : f32
    %product = arith.mulf %both, %row : f32
    %more = arith.addf %sum, %product : f32
    linalg.yield %more : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// The start is known from the blocks of a program before.
// CHECK-LABEL: func.func @from_blocks
// CHECK: scf.forall
// CHECK: scf.forall.in_parallel
// CHECK: scf.for
// CHECK: linalg.generic
// CHECK-NOT: arith.select
func.func @from_blocks(%given: tensor<4xi32>, %c: tensor<7xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %first = arith.constant 0 : i32
  %last = arith.constant 6 : i32
  %empty = tensor.empty() : tensor<4xi32>
  %s = scf.forall (%block) in (2) shared_outs(%out = %empty) -> (tensor<4xi32>) {
    %row = affine.apply affine_map<(i) -> (i * 2)>(%block)
    %own = tensor.extract_slice %given[%row] [2] [1] : tensor<4xi32> to tensor<2xi32>
    %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%own : tensor<2xi32>) outs(%own : tensor<2xi32>) {
    ^bb0(%in: i32, %o: i32):
      %low = arith.maxsi %in, %first : i32
      %start = arith.minsi %low, %last : i32
      linalg.yield %start : i32
    } -> tensor<2xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %out[%row] [2] [1] : tensor<2xi32> into tensor<4xi32>
    }
  }
  %part = tensor.extract_slice %s[0] [4] [1] : tensor<4xi32> to tensor<4xi32>
  %r = linalg.generic {indexing_maps = [#rows, #table, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%part, %c : tensor<4xi32>, tensor<7xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%start: i32, %row: f32, %sum: f32):
    %k = linalg.index 1 : index
    %number = arith.index_cast %k : index to i32
    %place = arith.subi %number, %start : i32
    %at = arith.cmpi eq, %place, %first : i32
    %chosen = arith.select %at, %row, %zero : f32
    %double = arith.addf %chosen, %chosen : f32
    %term = math.fma %double, %row, %chosen : f32
    %more = arith.addf %sum, %term : f32
    linalg.yield %more : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
