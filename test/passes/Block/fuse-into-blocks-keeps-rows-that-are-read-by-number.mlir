// RUN: drawloom-opt %s --fuse-into-blocks --remarks-filter=fuse-into-blocks --verify-semantics 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#i = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i) -> (i)>

// Row 2 of %e is read three times, and others may be read a thousand times.
// CHECK-LABEL: func.func @sums_of_rows
// CHECK: math.exp
// CHECK: scf.forall
// CHECK-NOT: math.exp
// REMARK: NotFused{{.*}}rows are read by numbers, as often as these say
func.func @sums_of_rows(%x: tensor<4x8xf32>) -> tensor<2x8xf32> {
  %starts = arith.constant dense<[0, 2, 5]> : tensor<3xi32>
  %numbers = arith.constant dense<[2, 0, 2, 1, 2]> : tensor<5xi32>
  %empty = tensor.empty() : tensor<4x8xf32>
  %e = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = math.exp %in : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %c1 = arith.constant 1 : index
  %results = tensor.empty() : tensor<2x8xf32>
  %y = scf.forall (%b) in (2) shared_outs(%all = %results) -> tensor<2x8xf32> {
    %next = arith.addi %b, %c1 : index
    %first = tensor.extract %starts[%b] : tensor<3xi32>
    %last = tensor.extract %starts[%next] : tensor<3xi32>
    %lo = arith.index_cast %first : i32 to index
    %hi = arith.index_cast %last : i32 to index
    %sum = scf.for %p = %lo to %hi step %c1 iter_args(%now = %zero) -> tensor<8xf32> {
      %number = tensor.extract %numbers[%p] : tensor<5xi32>
      %at = arith.index_cast %number : i32 to index
      %row = tensor.extract_slice %e[%at, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
      %added = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
          ins(%row : tensor<8xf32>) outs(%now : tensor<8xf32>) {
      ^bb0(%in: f32, %out: f32):
        %s = arith.addf %out, %in : f32
        linalg.yield %s : f32
      } -> tensor<8xf32>
      scf.yield %added : tensor<8xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %all[%b, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<2x8xf32>
    }
  }
  return %y : tensor<2x8xf32>
}
