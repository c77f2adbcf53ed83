// RUN: drawloom-opt %s --restrict-loops --canonicalize | FileCheck %s
// RUN: drawloom-opt %s --restrict-loops --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// y[n, o] = sum over i and k of c[k, i, o] times w0[n, i] at k = s[n, i], w1[n, i]
// at k = s[n, i] + 1, where s lies between 0 and 5.

#ni = affine_map<(n, i) -> (n, i)>
#rows = affine_map<(n, i, k, o) -> (n, i)>
#table = affine_map<(n, i, k, o) -> (k, i, o)>
#sums = affine_map<(n, i, k, o) -> (n, o)>

// CHECK-LABEL: func.func @window
// CHECK-SAME: %[[S:[a-z0-9]+]]: tensor<4x12xi32>, %[[W0:[a-z0-9]+]]: tensor<4x12xf32>, %[[W1:[a-z0-9]+]]: tensor<4x12xf32>, %[[C:[a-z0-9]+]]: tensor<7x12x3xf32>
// CHECK: %[[CLAMPED:.*]] = linalg.generic
// CHECK: scf.for %[[FIRST:.*]] = %{{.*}} to %c12 step %c8
// CHECK: scf.for %[[N:.*]] = %{{.*}} to %c4 step %c1
// CHECK: %[[TO:.*]] = arith.minsi
// CHECK: tensor.extract_slice %{{.*}}[%[[N]], 0] [1, 3]
// CHECK: scf.for %[[I:.*]] = %[[FIRST]] to %[[TO]] step %c1
// CHECK: %[[START:.*]] = tensor.extract %[[CLAMPED]][%[[N]], %[[I]]]
// CHECK: %[[V0:.*]] = tensor.extract %[[W0]][%[[N]], %[[I]]]
// CHECK: %[[V1:.*]] = tensor.extract %[[W1]][%[[N]], %[[I]]]
// CHECK: %[[K0:.*]] = arith.index_cast %[[START]]
// CHECK: %[[ROW0:.*]] = tensor.extract_slice %[[C]][%[[K0]], %[[I]], 0] [1, 1, 3]
// CHECK: %[[K1:.*]] = arith.addi %[[K0]], %c1
// CHECK: %[[ROW1:.*]] = tensor.extract_slice %[[C]][%[[K1]], %[[I]], 0] [1, 1, 3]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[ROW0]], %[[ROW1]] : tensor<3xf32>, tensor<3xf32>)
// CHECK-NEXT: ^bb0(%[[C0:.*]]: f32, %[[C1:.*]]: f32, %[[SUM:.*]]: f32):
// CHECK-NEXT: %[[T0:.*]] = arith.mulf %[[V0]], %[[C0]]
// CHECK-NEXT: %[[SUM0:.*]] = arith.addf %[[SUM]], %[[T0]]
// CHECK-NEXT: %[[T1:.*]] = arith.mulf %[[V1]], %[[C1]]
// CHECK-NEXT: %[[SUM1:.*]] = arith.addf %[[SUM0]], %[[T1]]
// CHECK-NEXT: linalg.yield %[[SUM1]]
func.func @window(%s: tensor<4x12xi32>, %w0: tensor<4x12xf32>, %w1: tensor<4x12xf32>, %c: tensor<7x12x3xf32>) -> tensor<4x3xf32> {
  %first = arith.constant 0 : i32
  %last = arith.constant 5 : i32
  %is = tensor.empty() : tensor<4x12xi32>
  %clamped = linalg.generic {indexing_maps = [#ni, #ni], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<4x12xi32>) outs(%is : tensor<4x12xi32>) {
  ^bb0(%in: i32, %out: i32):
    %low = arith.maxsi %in, %first : i32
    %start = arith.minsi %low, %last : i32
    linalg.yield %start : i32
  } -> tensor<4x12xi32>
  %zero = arith.constant 0.0 : f32
  %next = arith.constant 1 : i32
  %empty = tensor.empty() : tensor<4x3xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x3xf32>) -> tensor<4x3xf32>
  %y = linalg.generic {indexing_maps = [#rows, #rows, #rows, #table, #sums],
                       iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
      ins(%clamped, %w0, %w1, %c : tensor<4x12xi32>, tensor<4x12xf32>, tensor<4x12xf32>, tensor<7x12x3xf32>)
      outs(%zeros : tensor<4x3xf32>) {
  ^bb0(%start: i32, %a: f32, %b: f32, %row: f32, %sum: f32):
    %k = linalg.index 2 : index
    %number = arith.index_cast %k : index to i32
    %place = arith.subi %number, %start : i32
    %at0 = arith.cmpi eq, %place, %first : i32
    %f0 = arith.select %at0, %a, %zero : f32
    %at1 = arith.cmpi eq, %place, %next : i32
    %f1 = arith.select %at1, %b, %f0 : f32
    %term = arith.mulf %f1, %row : f32
    %more = arith.addf %sum, %term : f32
    linalg.yield %more : f32
  } -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// Row 0 begins at -3, which is clamped to 0, row 1 at 2, row 2 at 5, row 3 at 9.
func.func @values() {
  %s = arith.constant dense<[[-3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2],
                             [5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5], [9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9]]> : tensor<4x12xi32>
  %w0 = arith.constant dense<1.0> : tensor<4x12xf32>
  %w1 = arith.constant dense<10.0> : tensor<4x12xf32>
  %e = tensor.empty() : tensor<7x12x3xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(k, i, o) -> (k, i, o)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%e : tensor<7x12x3xf32>) {
  ^bb0(%out: f32):
    %k = linalg.index 0 : index
    %o = linalg.index 2 : index
    %both = arith.addi %k, %o : index
    %i = arith.index_cast %both : index to i32
    %f = arith.sitofp %i : i32 to f32
    linalg.yield %f : f32
  } -> tensor<7x12x3xf32>
  // 12 (k + o + 10 (k + 1 + o)) = 12 (11 (k + o) + 10).
  %y = func.call @window(%s, %w0, %w1, %c) : (tensor<4x12xi32>, tensor<4x12xf32>, tensor<4x12xf32>, tensor<7x12x3xf32>) -> tensor<4x3xf32>
  %expected = arith.constant dense<[[120.0, 252.0, 384.0], [384.0, 516.0, 648.0], [780.0, 912.0, 1044.0], [780.0, 912.0, 1044.0]]> : tensor<4x3xf32>
  check.close %y, %expected : tensor<4x3xf32>
  return
}
