// RUN: drawloom-opt %s "--tile-to-forall=min-iterations=16 piece-iterations=64" --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The rest of open rows is added in the blocks that have made the sum of the
// other rows.
// CHECK-LABEL: func.func @joined
// CHECK: scf.forall
// CHECK: linalg.generic {{.*}}"reduction"
// CHECK: scf.forall.in_parallel
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @joined(%x: tensor<16x8xf32>, %rest: tensor<?x16x8xf32>) -> tensor<16x8xf32> {
  %empty = tensor.empty() : tensor<16x8xf32>
  %sum = scf.forall (%i) in (16) shared_outs(%out = %empty) -> tensor<16x8xf32> {
    %row = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<16x8xf32> to tensor<1x8xf32>
    %twice = arith.addf %row, %row : tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %twice into %out[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<16x8xf32>
    }
  }
  %all = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (i, j)>], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%rest : tensor<?x16x8xf32>) outs(%sum : tensor<16x8xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %n = arith.addf %acc, %in : f32
    linalg.yield %n : f32
  } -> tensor<16x8xf32>
  return %all : tensor<16x8xf32>
}

// Who reads the sum without the rest finds it without the rest.
// CHECK-LABEL: func.func @read_twice
// CHECK: %[[SUM:.*]] = scf.forall
// CHECK-NOT: linalg.generic
// CHECK: scf.forall.in_parallel
// CHECK: return %[[SUM]]
func.func @read_twice(%x: tensor<16x8xf32>, %rest: tensor<?x16x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  %empty = tensor.empty() : tensor<16x8xf32>
  %sum = scf.forall (%i) in (16) shared_outs(%out = %empty) -> tensor<16x8xf32> {
    %row = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<16x8xf32> to tensor<1x8xf32>
    %twice = arith.addf %row, %row : tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %twice into %out[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<16x8xf32>
    }
  }
  %all = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (i, j)>], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%rest : tensor<?x16x8xf32>) outs(%sum : tensor<16x8xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %n = arith.addf %acc, %in : f32
    linalg.yield %n : f32
  } -> tensor<16x8xf32>
  return %sum, %all : tensor<16x8xf32>, tensor<16x8xf32>
}
