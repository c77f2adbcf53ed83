// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: @ops
// CHECK: slr.linear %{{.*}}(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) attributes {association = "parts"} {
// CHECK: ^bb0(%[[W:.*]]: tensor<6x4xf32>, %[[D:.*]]: tensor<6xf32>, %[[G:.*]]: tensor<2x3x2xf32>, %[[M:.*]]: tensor<4xf32>):
// CHECK: %[[DENSE:.*]] = slr.dense %[[W]] : tensor<6x4xf32>
// CHECK: %[[DIAGONAL:.*]] = slr.diagonal %[[D]] : tensor<6xf32>
// CHECK: %[[BLOCKS:.*]] = slr.block_diagonal %[[G]] : tensor<2x3x2xf32>
// CHECK: %[[IDENTITY:.*]] = slr.identity 6
// CHECK: %[[PERMUTE:.*]] = slr.permute [2, 3] by [1, 0]
// CHECK: %[[FOLD:.*]] = slr.fold 6 into 3 parts
// CHECK: %[[SELECT:.*]] = slr.select 2 from 1 of 6
// CHECK: %[[SUM:.*]] = slr.sum %[[DIAGONAL]], %[[IDENTITY]], %[[PERMUTE]] : !slr.term<6x6>, !slr.term<6x6>, !slr.term<6x6>
// CHECK: %[[PRODUCT:.*]] = slr.product %[[SUM]], %[[DENSE]] : !slr.term<6x6>, !slr.term<6x4>
// CHECK: %[[SCALE:.*]] = slr.scale %[[PRODUCT]] by 5.000000e-01 : !slr.term<6x4>
// CHECK: %[[CONCAT:.*]] = slr.concat %[[FOLD]], %[[SELECT]] : !slr.term<6x2>, !slr.term<6x2>
// CHECK: %[[HADAMARD:.*]] = slr.hadamard %[[SCALE]], %[[CONCAT]] : !slr.term<6x4>, !slr.term<6x4>
// CHECK: %[[NORMALIZED:.*]] = slr.normalize_columns %[[HADAMARD]] to %[[M]] : !slr.term<6x4>, tensor<4xf32>
// CHECK: %[[TRANSPOSE:.*]] = slr.transpose %[[BLOCKS]] : !slr.term<6x4>
// CHECK: %[[KRONECKER:.*]] = slr.kronecker %[[TRANSPOSE]], %[[IDENTITY]] : !slr.term<4x6>, !slr.term<6x6>
// CHECK: slr.yield %[[NORMALIZED]], %[[BLOCKS]] : !slr.term<6x4>, !slr.term<6x4>
// CHECK: } : tensor<?x6xf32>, (tensor<6x4xf32>, tensor<6xf32>, tensor<2x3x2xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
// CHECK: slr.materialize(%{{.*}}) {
// CHECK: } : (tensor<6x4xf32>) -> tensor<6x4xf32>
func.func @ops(%x: tensor<?x6xf32>, %w: tensor<6x4xf32>, %d: tensor<6xf32>, %g: tensor<2x3x2xf32>, %m: tensor<4xf32>)
    -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<6x4xf32>) {
  %y, %z = slr.linear %x(%w, %d, %g, %m) attributes {association = "parts"} {
  ^bb0(%w0: tensor<6x4xf32>, %d0: tensor<6xf32>, %g0: tensor<2x3x2xf32>, %m0: tensor<4xf32>):
    %dense = slr.dense %w0 : tensor<6x4xf32>
    %diagonal = slr.diagonal %d0 : tensor<6xf32>
    %blocks = slr.block_diagonal %g0 : tensor<2x3x2xf32>
    %identity = slr.identity 6
    %permute = slr.permute [2, 3] by [1, 0]
    %fold = slr.fold 6 into 3 parts
    %select = slr.select 2 from 1 of 6
    %sum = slr.sum %diagonal, %identity, %permute : !slr.term<6x6>, !slr.term<6x6>, !slr.term<6x6>
    %product = slr.product %sum, %dense : !slr.term<6x6>, !slr.term<6x4>
    %scale = slr.scale %product by 0.5 : !slr.term<6x4>
    %concat = slr.concat %fold, %select : !slr.term<6x2>, !slr.term<6x2>
    %hadamard = slr.hadamard %scale, %concat : !slr.term<6x4>, !slr.term<6x4>
    %normalized = slr.normalize_columns %hadamard to %m0 : !slr.term<6x4>, tensor<4xf32>
    %transpose = slr.transpose %blocks : !slr.term<6x4>
    %kronecker = slr.kronecker %transpose, %identity : !slr.term<4x6>, !slr.term<6x6>
    slr.yield %normalized, %blocks : !slr.term<6x4>, !slr.term<6x4>
  } : tensor<?x6xf32>, (tensor<6x4xf32>, tensor<6xf32>, tensor<2x3x2xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
  %n = slr.materialize(%w) {
  ^bb0(%w0: tensor<6x4xf32>):
    %dense = slr.dense %w0 : tensor<6x4xf32>
    slr.yield %dense : !slr.term<6x4>
  } : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %y, %z, %n : tensor<?x4xf32>, tensor<?x4xf32>, tensor<6x4xf32>
}
