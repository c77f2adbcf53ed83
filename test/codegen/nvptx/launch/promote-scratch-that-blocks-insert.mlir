// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-promote-scratch=limit=1024 --verify-semantics | FileCheck %s

// What a block inserts as it began is made in front of its inserts, which hold nothing else.
// CHECK-LABEL: func.func @undefined
// CHECK: %[[ARRAY:.*]] = tensor.empty() : tensor<10x8x8xf32>
// CHECK-NEXT: scf.forall.in_parallel {
// CHECK-NEXT: tensor.parallel_insert_slice %[[ARRAY]]
func.func @undefined(%x: tensor<4x8x8xf32>) -> (tensor<4x10x8x8xf32>, tensor<4x8x8xf32>) {
  %e = tensor.empty() : tensor<4x10x8x8xf32>
  %e2 = tensor.empty() : tensor<4x8x8xf32>
  %r:2 = scf.forall (%i) in (4) shared_outs(%o = %e, %o2 = %e2) -> (tensor<4x10x8x8xf32>, tensor<4x8x8xf32>) {
    %array = tensor.empty() : tensor<10x8x8xf32>
    %t = tensor.extract_slice %x[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<4x8x8xf32> to tensor<8x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %array into %o[%i, 0, 0, 0] [1, 10, 8, 8] [1, 1, 1, 1] : tensor<10x8x8xf32> into tensor<4x10x8x8xf32>
      tensor.parallel_insert_slice %t into %o2[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<4x8x8xf32>
    }
  }
  return %r#0, %r#1 : tensor<4x10x8x8xf32>, tensor<4x8x8xf32>
}

// The same where a loop fills what began with the same op.
// CHECK-LABEL: func.func @undefined_and_filled
// CHECK: scf.for
// CHECK: tensor.empty() : tensor<10x8x8xf32>
// CHECK: tensor.empty() : tensor<10x8x8xf32>
// CHECK-NEXT: scf.forall.in_parallel {
// CHECK-COUNT-4: tensor.parallel_insert_slice
func.func @undefined_and_filled(%x: tensor<4x8x8xf32>) -> (tensor<4x10x8x8xf32>, tensor<4x10x8x8xf32>, tensor<4x8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %e = tensor.empty() : tensor<4x10x8x8xf32>
  %e2 = tensor.empty() : tensor<4x8x8xf32>
  %r:3 = scf.forall (%i) in (4) shared_outs(%o = %e, %p = %e, %q = %e2) -> (tensor<4x10x8x8xf32>, tensor<4x10x8x8xf32>, tensor<4x8x8xf32>) {
    %array = tensor.empty() : tensor<10x8x8xf32>
    %t = tensor.extract_slice %x[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<4x8x8xf32> to tensor<8x8xf32>
    %filled = scf.for %j = %c0 to %c10 step %c1 iter_args(%a = %array) -> (tensor<10x8x8xf32>) {
      %next = tensor.insert_slice %t into %a[%j, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<10x8x8xf32>
      scf.yield %next : tensor<10x8x8xf32>
    }
    %last = tensor.extract_slice %filled[9, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<10x8x8xf32> to tensor<8x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %array into %o[%i, 0, 0, 0] [1, 10, 8, 8] [1, 1, 1, 1] : tensor<10x8x8xf32> into tensor<4x10x8x8xf32>
      tensor.parallel_insert_slice %array into %p[%i, 0, 0, 0] [1, 10, 8, 8] [1, 1, 1, 1] : tensor<10x8x8xf32> into tensor<4x10x8x8xf32>
      tensor.parallel_insert_slice %last into %q[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<4x8x8xf32>
    }
  }
  return %r#0, %r#1, %r#2 : tensor<4x10x8x8xf32>, tensor<4x10x8x8xf32>, tensor<4x8x8xf32>
}
