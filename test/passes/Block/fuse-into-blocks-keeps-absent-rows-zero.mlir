// RUN: drawloom-opt %s --fuse-into-blocks --canonicalize --verify-semantics | FileCheck %s
// RUN: drawloom-opt %s --fuse-into-blocks --verify-semantics -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#i = affine_map<(i) -> (i)>
#ij = affine_map<(i, j) -> (i, j)>

// exp(0) is 1, but a row of number -1 is 0.
// CHECK-LABEL: func.func @gathered
// CHECK-NOT: linalg.generic
// CHECK: scf.forall
// CHECK: %[[ROWS:.*]] = linalg.generic
// CHECK: %[[X:.*]] = block.gather %arg0[%[[ROWS]]]
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[ROWS]] : tensor<4x3xf32>, tensor<4xindex>)
// CHECK: math.exp
// CHECK: arith.cmpi sge
// CHECK: arith.select
func.func @gathered(%x: tensor<10x3xf32>) -> tensor<3x4x3xf32> {
  %c4 = arith.constant 4 : index
  %c10 = arith.constant 10 : index
  %none = arith.constant -1 : index
  %empty = tensor.empty() : tensor<10x3xf32>
  %p = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<10x3xf32>) outs(%empty : tensor<10x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = math.exp %in : f32
    linalg.yield %r : f32
  } -> tensor<10x3xf32>
  %results = tensor.empty() : tensor<3x4x3xf32>
  %y = scf.forall (%b) in (3) shared_outs(%all = %results) -> tensor<3x4x3xf32> {
    %numbers = tensor.empty() : tensor<4xindex>
    %rows = linalg.generic {indexing_maps = [#i], iterator_types = ["parallel"]} outs(%numbers : tensor<4xindex>) {
    ^bb0(%out: index):
      %n = linalg.index 0 : index
      %first = arith.muli %b, %c4 : index
      %row = arith.addi %first, %n : index
      %inside = arith.cmpi slt, %row, %c10 : index
      %r = arith.select %inside, %row, %none : index
      linalg.yield %r : index
    } -> tensor<4xindex>
    %init = tensor.empty() : tensor<4x3xf32>
    %tile = block.gather %p[%rows] outs(%init) : tensor<10x3xf32>[tensor<4xindex>] -> tensor<4x3xf32>
    %twice = arith.addf %tile, %tile : tensor<4x3xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %twice into %all[%b, 0, 0] [1, 4, 3] [1, 1, 1] : tensor<4x3xf32> into tensor<3x4x3xf32>
    }
  }
  return %y : tensor<3x4x3xf32>
}
