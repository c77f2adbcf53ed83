// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-outline-kernels | FileCheck %s

// What is computed again starts from nothing, as it did the first time: no kernel fills its memory before.
// CHECK: @f_0
// CHECK-COUNT-1: = scf.forall (
// CHECK: @f_1
// CHECK-COUNT-1: = scf.forall (
// CHECK: @f_2
// CHECK-COUNT-1: = scf.forall (
// CHECK-NOT: = scf.forall (
// CHECK-NOT: updates
// CHECK-NOT: offload
func.func @f(%x: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %e = tensor.empty() : tensor<16x16xf32>
  %a = scf.forall (%i) in (16) shared_outs(%o = %e) -> tensor<16x16xf32> {
    %r = tensor.extract_slice %x[%i, 0] [1, 16] [1, 1] : tensor<16x16xf32> to tensor<1x16xf32>
    %s = arith.addf %r, %r : tensor<1x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<16x16xf32>
    }
  }
  %b = scf.forall (%i) in (16) shared_outs(%o = %e) -> tensor<16x16xf32> {
    %r = tensor.extract_slice %a[%i, 0] [1, 16] [1, 1] : tensor<16x16xf32> to tensor<1x16xf32>
    %s = arith.mulf %r, %r : tensor<1x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<16x16xf32>
    }
  }
  %fresh = tensor.empty() : tensor<16x16xf32>
  %init = offload.again %fresh copy 1 : tensor<16x16xf32>
  %same = offload.again %x copy 1 : tensor<16x16xf32>
  %c = scf.forall (%i) in (16) shared_outs(%o = %init) -> tensor<16x16xf32> {
    %r = tensor.extract_slice %same[%i, 0] [1, 16] [1, 1] : tensor<16x16xf32> to tensor<1x16xf32>
    %s = arith.addf %r, %r : tensor<1x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<16x16xf32>
    }
  }
  return %b, %c : tensor<16x16xf32>, tensor<16x16xf32>
}
