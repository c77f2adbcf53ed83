// RUN: drawloom-opt %s --fuse-into-blocks --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sixteen blocks that read a matrix the other way round would take its elements
// one by one, each block again: it is turned once, before them.
// CHECK-LABEL: func.func @shared
// CHECK: linalg.transpose
// CHECK: scf.forall
// CHECK-NOT: linalg.transpose
// CHECK: scf.forall.in_parallel
func.func @shared(%x: tensor<16x4x64xf32>, %w: tensor<64x4xf32>) -> tensor<16x4x64xf32> {
  %e0 = tensor.empty() : tensor<4x64xf32>
  %turned = linalg.transpose ins(%w : tensor<64x4xf32>) outs(%e0 : tensor<4x64xf32>) permutation = [1, 0]
  %e1 = tensor.empty() : tensor<16x4x64xf32>
  %o = scf.forall (%i, %j) = (0, 0) to (16, 64) step (1, 32) shared_outs(%out = %e1) -> (tensor<16x4x64xf32>) {
    %t = tensor.extract_slice %x[%i, 0, %j] [1, 4, 32] [1, 1, 1] : tensor<16x4x64xf32> to tensor<4x32xf32>
    %u = tensor.extract_slice %turned[0, %j] [4, 32] [1, 1] : tensor<4x64xf32> to tensor<4x32xf32>
    %v = arith.mulf %t, %u : tensor<4x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %v into %out[%i, 0, %j] [1, 4, 32] [1, 1, 1] : tensor<4x32xf32> into tensor<16x4x64xf32>
    }
  }
  return %o : tensor<16x4x64xf32>
}

// Each block turns the part that it alone reads.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: linalg.transpose
// CHECK: scf.forall
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<64x4xf32>)
// CHECK: scf.forall.in_parallel
func.func @apart(%w: tensor<64x16xf32>) -> tensor<16x64xf32> {
  %e0 = tensor.empty() : tensor<16x64xf32>
  %turned = linalg.transpose ins(%w : tensor<64x16xf32>) outs(%e0 : tensor<16x64xf32>) permutation = [1, 0]
  %e1 = tensor.empty() : tensor<16x64xf32>
  %o = scf.forall (%i) = (0) to (16) step (4) shared_outs(%out = %e1) -> (tensor<16x64xf32>) {
    %t = tensor.extract_slice %turned[%i, 0] [4, 64] [1, 1] : tensor<16x64xf32> to tensor<4x64xf32>
    %v = arith.mulf %t, %t : tensor<4x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %v into %out[%i, 0] [4, 64] [1, 1] : tensor<4x64xf32> into tensor<16x64xf32>
    }
  }
  return %o : tensor<16x64xf32>
}
