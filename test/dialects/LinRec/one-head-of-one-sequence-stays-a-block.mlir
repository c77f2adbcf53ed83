// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --decompose-graph --canonicalize --verify-semantics | FileCheck %s

// Dissolved, it would round otherwise than where calls choose how many there are.
// CHECK-LABEL: @f(
// CHECK: scf.forall ({{.*}}) in (1, 1)
func.func @f(%q: tensor<1x5x1x8xf32>, %k: tensor<1x5x1x8xf32>, %v: tensor<1x5x1x6xf32>) -> tensor<1x5x1x6xf32> {
  %0:2 = linrec.scan %q, %k, %v : (tensor<1x5x1x8xf32>, tensor<1x5x1x8xf32>, tensor<1x5x1x6xf32>) -> (tensor<1x5x1x6xf32>, tensor<1x1x8x6xf32>)
  return %0#0 : tensor<1x5x1x6xf32>
}

// So any number of tokens may be those of one head.
// CHECK-LABEL: @any(
// CHECK: scf.forall ({{.*}}) in (1, 1)
func.func @any(%q: tensor<1x?x1x8xf32>, %k: tensor<1x?x1x8xf32>, %v: tensor<1x?x1x6xf32>) -> tensor<1x?x1x6xf32> {
  %0:2 = linrec.scan %q, %k, %v : (tensor<1x?x1x8xf32>, tensor<1x?x1x8xf32>, tensor<1x?x1x6xf32>) -> (tensor<1x?x1x6xf32>, tensor<1x1x8x6xf32>)
  return %0#0 : tensor<1x?x1x6xf32>
}
