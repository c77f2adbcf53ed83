// RUN: drawloom-opt %s --make-total --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// From 0 in steps of 4, 8 is the last below 10; from 1 it is 9, and past the
// end.
// CHECK-LABEL: func.func @f
// CHECK: scf.for
// CHECK: scf.for %[[J:.+]] = %{{.+}} to
// CHECK: arith.index_cast %[[J]] : index to i32
// CHECK: arith.minsi
// CHECK: tensor.extract
func.func @f(%x: tensor<9xf32>, %start: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c10 = arith.constant 10 : index
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%sum = %start) -> (f32) {
    %inner = scf.for %j = %i to %c10 step %c4 iter_args(%s = %sum) -> (f32) {
      %v = tensor.extract %x[%j] : tensor<9xf32>
      %t = arith.addf %s, %v : f32
      scf.yield %t : f32
    }
    scf.yield %inner : f32
  }
  return %y : f32
}
