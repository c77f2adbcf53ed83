// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-promote-scratch=limit=1024 | FileCheck %s

// CHECK-LABEL: func.func @nothing
// CHECK-NOT: scf.forall
func.func @nothing(%x: tensor<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %array = tensor.empty() : tensor<10x8x8xf32>
  %filled = scf.for %i = %c0 to %c10 step %c1 iter_args(%a = %array) -> (tensor<10x8x8xf32>) {
    %next = tensor.insert_slice %x into %a[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<10x8x8xf32>
    scf.yield %next : tensor<10x8x8xf32>
  }
  return
}
