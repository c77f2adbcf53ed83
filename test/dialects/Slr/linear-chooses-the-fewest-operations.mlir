// RUN: drawloom-opt %s --decompose-graph --canonicalize | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Both factors are thin: rows go through them, and never a matrix of 64 x 64 is
// made. The scale is on the narrowest row.
// CHECK-LABEL: func.func @low_rank
// CHECK: linalg.contract {{.*}} tensor<?x64xf32>, tensor<64x4xf32>
// CHECK: arith.mulf
// CHECK: -> tensor<?x4xf32>
// CHECK: linalg.contract {{.*}} tensor<?x4xf32>, tensor<4x64xf32>
func.func @low_rank(%x: tensor<?x64xf32>, %a: tensor<64x4xf32>, %b: tensor<4x64xf32>) -> tensor<?x64xf32> {
  %y = slr.linear %x(%a, %b) {
  ^bb0(%a0: tensor<64x4xf32>, %b0: tensor<4x64xf32>):
    %0 = slr.dense %a0 : tensor<64x4xf32>
    %1 = slr.dense %b0 : tensor<4x64xf32>
    %2 = slr.product %0, %1 : !slr.term<64x4>, !slr.term<4x64>
    %3 = slr.scale %2 by 2.0 : !slr.term<64x64>
    slr.yield %3 : !slr.term<64x64>
  } : tensor<?x64xf32>, (tensor<64x4xf32>, tensor<4x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// With rank 48 that would be more than 64 x 64: the matrix is made first.
// CHECK-LABEL: func.func @high_rank
// CHECK: %[[W:.+]] = linalg.contract {{.*}} tensor<64x48xf32>, tensor<48x64xf32>{{.*}} -> tensor<64x64xf32>
// CHECK: linalg.contract {{.*}} ins(%arg0, %[[W]]
func.func @high_rank(%x: tensor<?x64xf32>, %a: tensor<64x48xf32>, %b: tensor<48x64xf32>) -> tensor<?x64xf32> {
  %y = slr.linear %x(%a, %b) {
  ^bb0(%a0: tensor<64x48xf32>, %b0: tensor<48x64xf32>):
    %0 = slr.dense %a0 : tensor<64x48xf32>
    %1 = slr.dense %b0 : tensor<48x64xf32>
    %2 = slr.product %0, %1 : !slr.term<64x48>, !slr.term<48x64>
    slr.yield %2 : !slr.term<64x64>
  } : tensor<?x64xf32>, (tensor<64x48xf32>, tensor<48x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// Unless the op says otherwise.
// CHECK-LABEL: func.func @as_written
// CHECK: linalg.contract {{.*}} tensor<?x64xf32>, tensor<64x48xf32>
// CHECK: linalg.contract {{.*}} tensor<?x48xf32>, tensor<48x64xf32>
func.func @as_written(%x: tensor<?x64xf32>, %a: tensor<64x48xf32>, %b: tensor<48x64xf32>) -> tensor<?x64xf32> {
  %y = slr.linear %x(%a, %b) attributes {association = "parts"} {
  ^bb0(%a0: tensor<64x48xf32>, %b0: tensor<48x64xf32>):
    %0 = slr.dense %a0 : tensor<64x48xf32>
    %1 = slr.dense %b0 : tensor<48x64xf32>
    %2 = slr.product %0, %1 : !slr.term<64x48>, !slr.term<48x64>
    slr.yield %2 : !slr.term<64x64>
  } : tensor<?x64xf32>, (tensor<64x48xf32>, tensor<48x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// Only the wide factors in front are worth a matrix of 64 x 8.
// CHECK-LABEL: func.func @some_of_them
// CHECK: %[[W:.+]] = linalg.contract {{.*}} tensor<64x256xf32>, tensor<256x8xf32>{{.*}} -> tensor<64x8xf32>
// CHECK: %[[S:.+]] = linalg.contract {{.*}} ins(%arg0, %[[W]]
// CHECK: linalg.contract {{.*}} ins(%[[S]], %arg3
func.func @some_of_them(%x: tensor<?x64xf32>, %a: tensor<64x256xf32>, %b: tensor<256x8xf32>, %c: tensor<8x64xf32>) -> tensor<?x64xf32> {
  %y = slr.linear %x(%a, %b, %c) {
  ^bb0(%a0: tensor<64x256xf32>, %b0: tensor<256x8xf32>, %c0: tensor<8x64xf32>):
    %0 = slr.dense %a0 : tensor<64x256xf32>
    %1 = slr.dense %b0 : tensor<256x8xf32>
    %2 = slr.dense %c0 : tensor<8x64xf32>
    %3 = slr.product %0, %1, %2 : !slr.term<64x256>, !slr.term<256x8>, !slr.term<8x64>
    slr.yield %3 : !slr.term<64x64>
  } : tensor<?x64xf32>, (tensor<64x256xf32>, tensor<256x8xf32>, tensor<8x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// A sum of so many low-rank terms that they cost more than a matrix is one, and
// the base beside them stays as it is.
// CHECK-LABEL: func.func @many_terms
// CHECK: %[[Y:.+]] = linalg.contract {{.*}} ins(%arg0, %arg1
// CHECK: linalg.contract {{.*}} -> tensor<64x64xf32>
// CHECK: linalg.contract {{.*}} -> tensor<64x64xf32>
// CHECK: linalg.contract {{.*}} ins(%arg0, %{{.*}} : tensor<?x64xf32>, tensor<64x64xf32>)
func.func @many_terms(%x: tensor<?x64xf32>, %w: tensor<64x64xf32>, %a: tensor<64x24xf32>, %b: tensor<24x64xf32>, %c: tensor<64x24xf32>, %d: tensor<24x64xf32>)
    -> tensor<?x64xf32> {
  %y = slr.linear %x(%w, %a, %b, %c, %d) {
  ^bb0(%w0: tensor<64x64xf32>, %a0: tensor<64x24xf32>, %b0: tensor<24x64xf32>, %c0: tensor<64x24xf32>, %d0: tensor<24x64xf32>):
    %0 = slr.dense %w0 : tensor<64x64xf32>
    %1 = slr.dense %a0 : tensor<64x24xf32>
    %2 = slr.dense %b0 : tensor<24x64xf32>
    %3 = slr.dense %c0 : tensor<64x24xf32>
    %4 = slr.dense %d0 : tensor<24x64xf32>
    %5 = slr.product %1, %2 : !slr.term<64x24>, !slr.term<24x64>
    %6 = slr.product %3, %4 : !slr.term<64x24>, !slr.term<24x64>
    %7 = slr.sum %0, %5, %6 : !slr.term<64x64>, !slr.term<64x64>, !slr.term<64x64>
    slr.yield %7 : !slr.term<64x64>
  } : tensor<?x64xf32>, (tensor<64x64xf32>, tensor<64x24xf32>, tensor<24x64xf32>, tensor<64x24xf32>, tensor<24x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// An elementwise product is made as a matrix, and has a matrix's gradient: the
// base is added to it.
// CHECK-LABEL: func.func @beside_a_matrix
// CHECK: %[[M:.+]] = linalg.contract {{.*}} -> tensor<64x64xf32>
// CHECK: %[[H:.+]] = linalg.generic {{.*}} ins(%arg1, %[[M]]
// CHECK: %[[W:.+]] = linalg.generic {{.*}} ins(%arg1, %[[H]]
// CHECK: linalg.contract {{.*}} ins(%arg0, %[[W]]
// CHECK-NOT: linalg.contract
func.func @beside_a_matrix(%x: tensor<?x64xf32>, %w: tensor<64x64xf32>, %a: tensor<64x4xf32>, %b: tensor<4x64xf32>) -> tensor<?x64xf32> {
  %y = slr.linear %x(%w, %a, %b) {
  ^bb0(%w0: tensor<64x64xf32>, %a0: tensor<64x4xf32>, %b0: tensor<4x64xf32>):
    %0 = slr.dense %w0 : tensor<64x64xf32>
    %1 = slr.dense %a0 : tensor<64x4xf32>
    %2 = slr.dense %b0 : tensor<4x64xf32>
    %3 = slr.product %1, %2 : !slr.term<64x4>, !slr.term<4x64>
    %4 = slr.hadamard %0, %3 : !slr.term<64x64>, !slr.term<64x64>
    %5 = slr.sum %0, %4 : !slr.term<64x64>, !slr.term<64x64>
    slr.yield %5 : !slr.term<64x64>
  } : tensor<?x64xf32>, (tensor<64x64xf32>, tensor<64x4xf32>, tensor<4x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
