// RUN: drawloom-opt %s --fuse-into-blocks --canonicalize --verify-semantics | FileCheck %s
// RUN: drawloom-opt %s --fuse-into-blocks --verify-semantics -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#i = affine_map<(i) -> (i)>

// Tokens that a table gives, row 0 among them, read by row numbers of which
// some are absent: what is absent stays 0, and nothing else does.
// CHECK-LABEL: func.func @embedded
// CHECK-NOT: block.gather
// CHECK: scf.forall
// CHECK: block.gather %arg0
func.func @embedded(%table: tensor<6x3xf32>) -> tensor<3x4x3xf32> {
  %c3 = arith.constant 3 : index
  %c2 = arith.constant 2 : index
  %c10 = arith.constant 10 : index
  %none = arith.constant -1 : index
  %tokens = arith.constant dense<[5, 0, 3, 2, -1, 4, 4, 1, 0, 2]> : tensor<10xindex>
  %empty = tensor.empty() : tensor<10x3xf32>
  %x = block.gather %table[%tokens] outs(%empty) : tensor<6x3xf32>[tensor<10xindex>] -> tensor<10x3xf32>
  %results = tensor.empty() : tensor<3x4x3xf32>
  %y = scf.forall (%b) in (3) shared_outs(%all = %results) -> tensor<3x4x3xf32> {
    %numbers = tensor.empty() : tensor<4xindex>
    // Blocks begin at rows -2, 1 and 4.
    %rows = linalg.generic {indexing_maps = [#i], iterator_types = ["parallel"]} outs(%numbers : tensor<4xindex>) {
    ^bb0(%out: index):
      %n = linalg.index 0 : index
      %first = arith.muli %b, %c3 : index
      %at = arith.addi %first, %n : index
      %row = arith.subi %at, %c2 : index
      %after = arith.cmpi sge, %row, %none : index
      %inside = arith.cmpi slt, %row, %c10 : index
      %there = arith.andi %after, %inside : i1
      %r = arith.select %there, %row, %none : index
      linalg.yield %r : index
    } -> tensor<4xindex>
    %init = tensor.empty() : tensor<4x3xf32>
    %tile = block.gather %x[%rows] outs(%init) : tensor<10x3xf32>[tensor<4xindex>] -> tensor<4x3xf32>
    %twice = arith.addf %tile, %tile : tensor<4x3xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %twice into %all[%b, 0, 0] [1, 4, 3] [1, 1, 1] : tensor<4x3xf32> into tensor<3x4x3xf32>
    }
  }
  return %y : tensor<3x4x3xf32>
}
