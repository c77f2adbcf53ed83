// RUN: drawloom-opt %s --make-total --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// An index that was read as i32 is bounded as such, and so is the counter of a
// loop between two of them.
// CHECK-LABEL: func.func @narrow
// CHECK: scf.for
// CHECK: %[[P:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK: %[[LOW:.*]] = arith.minsi %[[P]], %{{.*}} : i32
// CHECK: %[[IN:.*]] = arith.maxsi %[[LOW]], %{{.*}} : i32
// CHECK: arith.index_cast %[[IN]] : i32 to index
func.func @narrow(%values: tensor<200xf32>, %starts: tensor<2xi32>) -> f32 {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = tensor.extract %starts[%c0] : tensor<2xi32>
  %last = tensor.extract %starts[%c1] : tensor<2xi32>
  %begin = arith.index_cast %first : i32 to index
  %end = arith.index_cast %last : i32 to index
  %sum = scf.for %p = %begin to %end step %c1 iter_args(%s = %zero) -> (f32) {
    %value = tensor.extract %values[%p] : tensor<200xf32>
    %n = arith.addf %s, %value : f32
    scf.yield %n : f32
  }
  return %sum : f32
}

// One that was read as i64 needs all of its bits.
// CHECK-LABEL: func.func @wide
// CHECK: arith.minsi %{{.*}}, %{{.*}} : index
func.func @wide(%values: tensor<200xf32>, %at: tensor<i64>) -> f32 {
  %number = tensor.extract %at[] : tensor<i64>
  %index = arith.index_cast %number : i64 to index
  %value = tensor.extract %values[%index] : tensor<200xf32>
  return %value : f32
}
