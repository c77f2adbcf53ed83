// RUN: drawloom-opt %s --fuse-into-blocks --canonicalize --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#all = affine_map<(t, h, d) -> (t, h, d)>

// Rows of one head are apart in memory: what takes long to compute gets them packed.
// CHECK-LABEL: func.func @packed
// CHECK: scf.forall
// CHECK: %[[ROWS:.*]] = tensor.extract_slice %arg0{{.*}} to tensor<4x4xf32>
// CHECK: %[[PACKED:.*]] = linalg.copy ins(%[[ROWS]]
// CHECK: linalg.generic {{.*}} ins(%[[PACKED]]
// CHECK: math.exp
func.func @packed(%x: tensor<8x2x4xf32>) -> tensor<8x2x4xf32> {
  %empty = tensor.empty() : tensor<8x2x4xf32>
  %exp = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<8x2x4xf32>) outs(%empty : tensor<8x2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = math.exp %in : f32
    linalg.yield %r : f32
  } -> tensor<8x2x4xf32>
  %y = scf.forall (%t, %h) = (0, 0) to (8, 2) step (4, 1) shared_outs(%whole = %empty) -> tensor<8x2x4xf32> {
    %tile = tensor.extract_slice %exp[%t, %h, 0] [4, 1, 4] [1, 1, 1] : tensor<8x2x4xf32> to tensor<4x4xf32>
    %twice = arith.addf %tile, %tile : tensor<4x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %twice into %whole[%t, %h, 0] [4, 1, 4] [1, 1, 1] : tensor<4x4xf32> into tensor<8x2x4xf32>
    }
  }
  return %y : tensor<8x2x4xf32>
}

// What is cheap reads them where they are.
// CHECK-LABEL: func.func @in_place
// CHECK: scf.forall
// CHECK-NOT: linalg.copy
// CHECK: arith.negf
func.func @in_place(%x: tensor<8x2x4xf32>) -> tensor<8x2x4xf32> {
  %empty = tensor.empty() : tensor<8x2x4xf32>
  %neg = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<8x2x4xf32>) outs(%empty : tensor<8x2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.negf %in : f32
    linalg.yield %r : f32
  } -> tensor<8x2x4xf32>
  %y = scf.forall (%t, %h) = (0, 0) to (8, 2) step (4, 1) shared_outs(%whole = %empty) -> tensor<8x2x4xf32> {
    %tile = tensor.extract_slice %neg[%t, %h, 0] [4, 1, 4] [1, 1, 1] : tensor<8x2x4xf32> to tensor<4x4xf32>
    %twice = arith.addf %tile, %tile : tensor<4x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %twice into %whole[%t, %h, 0] [4, 1, 4] [1, 1, 1] : tensor<4x4xf32> into tensor<8x2x4xf32>
    }
  }
  return %y : tensor<8x2x4xf32>
}
