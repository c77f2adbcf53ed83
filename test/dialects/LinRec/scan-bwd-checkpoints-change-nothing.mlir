// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Three chunks, in groups of two. The states are 2, 3, 5, 8; their gradients, from the last, 2, 3, 4.

// Two checkpoints, and in the way back three states of a group.
// CHECK-LABEL: @gradient
// CHECK: tensor.empty() : tensor<2x1x1xf64>
// CHECK: tensor.empty() : tensor<3x1x1xf64>
func.func private @gradient(%q: tensor<1x3x1x1xf64>, %k: tensor<1x3x1x1xf64>, %v: tensor<1x3x1x1xf64>, %initial: tensor<1x1x1x1xf64>, %d_o: tensor<1x3x1x1xf64>, %d_final: tensor<1x1x1x1xf64>) -> (tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x1x1x1xf64>) {
  %0:4 = linrec.scan_bwd %q, %k, %v initial(%initial) cotangents(%d_o, %d_final) {scale = 1.0, chunk = 1, checkpoint_interval = 2}
      : (tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x1x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x1x1x1xf64>) -> (tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x1x1x1xf64>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x1x1x1xf64>
}

func.func @test() {
  %q = arith.constant dense<[[[[1.0]], [[1.0]], [[1.0]]]]> : tensor<1x3x1x1xf64>
  %k = arith.constant dense<[[[[1.0]], [[2.0]], [[3.0]]]]> : tensor<1x3x1x1xf64>
  %v = arith.constant dense<[[[[1.0]], [[1.0]], [[1.0]]]]> : tensor<1x3x1x1xf64>
  %initial = arith.constant dense<2.0> : tensor<1x1x1x1xf64>
  %d_final = arith.constant dense<1.0> : tensor<1x1x1x1xf64>
  %r:4 = call @gradient(%q, %k, %v, %initial, %q, %d_final) : (tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x1x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x1x1x1xf64>) -> (tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x1x1x1xf64>)
  %dq = arith.constant dense<[[[[3.0]], [[5.0]], [[8.0]]]]> : tensor<1x3x1x1xf64>
  check.close %r#0, %dq : tensor<1x3x1x1xf64>
  %dk = arith.constant dense<[[[[4.0]], [[3.0]], [[2.0]]]]> : tensor<1x3x1x1xf64>
  check.close %r#1, %dk : tensor<1x3x1x1xf64>
  %dv = arith.constant dense<[[[[4.0]], [[6.0]], [[6.0]]]]> : tensor<1x3x1x1xf64>
  check.close %r#2, %dv : tensor<1x3x1x1xf64>
  %di = arith.constant dense<4.0> : tensor<1x1x1x1xf64>
  check.close %r#3, %di : tensor<1x1x1x1xf64>
  return
}
