// RUN: drawloom-opt %s --fold-zero-element-tensors --verify-semantics | FileCheck %s
// RUN: drawloom-run %s --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One of two values that the loop carries is empty.
// CHECK: scf.for
// CHECK: arith.addf %{{.*}} : tensor<4xf32>
#m = affine_map<(i) -> (i)>
func.func @f(%x: tensor<4xf32>, %u: tensor<0xf32>) -> (tensor<4xf32>, tensor<0xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %3 = arith.constant 3 : index
  %r:2 = scf.for %i = %0 to %3 step %1 iter_args(%a = %x, %b = %u) -> (tensor<4xf32>, tensor<0xf32>) {
    %s = arith.addf %a, %x : tensor<4xf32>
    %t = arith.addf %b, %u : tensor<0xf32>
    scf.yield %s, %t : tensor<4xf32>, tensor<0xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<0xf32>
}
