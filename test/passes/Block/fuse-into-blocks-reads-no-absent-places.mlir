// RUN: drawloom-run %s --entry=looked_up --random --random-integers=-5:-2 --compare=interpreter
// RUN: drawloom-run %s --entry=placed --random --random-integers=-5:-2 --compare=interpreter
// RUN: drawloom-opt %s --fuse-into-blocks | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rows that a gather names none for are computed as zeros. An op that reads where its row says would read there, too: it stays by itself.
// CHECK-LABEL: func.func @looked_up
// CHECK: tensor.extract
// CHECK: scf.forall
// CHECK-NOT: tensor.extract %
func.func @looked_up(%x: tensor<64x16xf32>, %rows: tensor<4x8xi32>) -> tensor<4x8x16xf32> {
  %empty = tensor.empty() : tensor<64x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(t, d) -> (t, d)>], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<64x16xf32>) {
  ^bb0(%out: f32):
    %far = arith.constant 100000000000 : index
    %c0 = arith.constant 0 : index
    %t = linalg.index 0 : index
    %d = linalg.index 1 : index
    %below = arith.minsi %t, %c0 : index
    %away = arith.muli %below, %far : index
    %at = arith.addi %t, %away : index
    %v = tensor.extract %x[%at, %d] : tensor<64x16xf32>
    %two = arith.addf %v, %v : f32
    linalg.yield %two : f32
  } -> tensor<64x16xf32>
  %e = tensor.empty() : tensor<4x8x16xf32>
  %z = scf.forall (%b) in (4) shared_outs(%all = %e) -> tensor<4x8x16xf32> {
    %own = tensor.extract_slice %rows[%b, 0] [1, 8] [1, 1] : tensor<4x8xi32> to tensor<8xi32>
    %te = tensor.empty() : tensor<8x16xf32>
    %g = block.gather %y[%own] outs(%te) : tensor<64x16xf32>[tensor<8xi32>] -> tensor<8x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %g into %all[%b, 0, 0] [1, 8, 16] [1, 1, 1] : tensor<8x16xf32> into tensor<4x8x16xf32>
    }
  }
  return %z : tensor<4x8x16xf32>
}

// One that asks for its row only is computed as the first, and left.
// CHECK-LABEL: func.func @placed
// CHECK: scf.forall
// CHECK: arith.maxsi
func.func @placed(%rows: tensor<4x8xi32>) -> tensor<4x8x16xf32> {
  %empty = tensor.empty() : tensor<64x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(t, d) -> (t, d)>], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<64x16xf32>) {
  ^bb0(%out: f32):
    %t = linalg.index 0 : index
    %i = arith.index_cast %t : index to i32
    %v = arith.sitofp %i : i32 to f32
    linalg.yield %v : f32
  } -> tensor<64x16xf32>
  %e = tensor.empty() : tensor<4x8x16xf32>
  %z = scf.forall (%b) in (4) shared_outs(%all = %e) -> tensor<4x8x16xf32> {
    %own = tensor.extract_slice %rows[%b, 0] [1, 8] [1, 1] : tensor<4x8xi32> to tensor<8xi32>
    %te = tensor.empty() : tensor<8x16xf32>
    %g = block.gather %y[%own] outs(%te) : tensor<64x16xf32>[tensor<8xi32>] -> tensor<8x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %g into %all[%b, 0, 0] [1, 8, 16] [1, 1, 1] : tensor<8x16xf32> into tensor<4x8x16xf32>
    }
  }
  return %z : tensor<4x8x16xf32>
}
