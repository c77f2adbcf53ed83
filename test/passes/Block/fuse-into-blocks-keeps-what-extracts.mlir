// RUN: drawloom-opt %s --fuse-into-blocks --canonicalize --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ij = affine_map<(i, j) -> (i, j)>

// The exponential needs one element at a time. The last op reads elements that other blocks write, so it comes after all of them.
// CHECK-LABEL: func.func @diagonal
// CHECK: %[[Y:.*]] = scf.forall
// CHECK: math.exp
// CHECK-NOT: tensor.extract %
// CHECK: scf.forall.in_parallel
// CHECK: tensor.extract %[[Y]]
func.func @diagonal(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %empty = tensor.empty() : tensor<8x4xf32>
  %y = scf.forall (%i) in (8) shared_outs(%whole = %empty) -> tensor<8x4xf32> {
    %row = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<1x4xf32>
    %twice = arith.addf %row, %row : tensor<1x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %twice into %whole[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
    }
  }
  %e = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<8x4xf32>) outs(%empty : tensor<8x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = math.exp %in : f32
    linalg.yield %r : f32
  } -> tensor<8x4xf32>
  %b = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%e : tensor<8x4xf32>) outs(%empty : tensor<8x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %k = linalg.index 1 : index
    %d = tensor.extract %e[%k, %k] : tensor<8x4xf32>
    %sum = arith.addf %in, %d : f32
    linalg.yield %sum : f32
  } -> tensor<8x4xf32>
  return %b : tensor<8x4xf32>
}
