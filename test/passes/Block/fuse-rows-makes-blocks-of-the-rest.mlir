// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --fuse-rows="tile-rows=32 max-blocks=8 rest-in-blocks" --canonicalize --cse --verify-semantics | FileCheck %s

// Of open rows that 32 leaves over, each eight are a block, and each of those beyond; three at most of the first, seven of the others. Nothing
// orders them: they write rows that the others leave.
// CHECK: %[[WHOLE:.*]]:2 = scf.forall
// CHECK: tensor.extract_slice {{.*}} [32, 8] [1, 1]
// CHECK: %[[FEW:.*]]:2 = scf.forall {{.*}} shared_outs(%{{.*}} = %[[WHOLE]]#0, {{.*}}) -> (tensor<?x8xf32>, tensor<3x8xf32>)
// CHECK-NOT: scf.for
// CHECK: tensor.extract_slice {{.*}} [8, 8] [1, 1]
// CHECK: } {drawloom.beside}
// CHECK: scf.forall {{.*}} shared_outs(%{{.*}} = %[[FEW]]#0, {{.*}}) -> (tensor<?x8xf32>, tensor<7x8xf32>)
// CHECK: tensor.extract_slice {{.*}} [1, 8] [1, 1]
// CHECK: } {drawloom.beside}
#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>
func.func @project(%x: tensor<?x8xf32> {check.shape = array<i64: 150, 8>}) -> (tensor<?x8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%rows) : tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x8xf32>) outs(%empty : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %a : f32
    linalg.yield %0 : f32
  } -> tensor<?x8xf32>
  %none = tensor.empty() : tensor<8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%none : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<?x8xf32>) outs(%start : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %y, %sum : tensor<?x8xf32>, tensor<8xf32>
}
